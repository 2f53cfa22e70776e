"""Markup that escapes every text unless it is markup already."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence


class Html(str):
    """Text that is markup already; any other text is escaped when it is put into the page."""

    __slots__ = ()


EMPTY = Html("")
_FEW_COLUMNS = 3
"""So many fit a narrow page."""


def escaped(content: str) -> Html:
    return content if isinstance(content, Html) else Html(html.escape(content))


def joined(*parts: str) -> Html:
    return Html("".join(escaped(part) for part in parts))


def element(tag: str, *content: str, **attributes: str | None) -> Html:
    """One element; `class_` becomes `class`, `data_x` becomes `data-x`, None is left out."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{written}>{joined(*content)}</{tag}>")


def coded(text: str) -> Html:
    """The text, with what is in backticks as code."""
    if isinstance(text, Html):
        return text
    parts = enumerate(text.split("`"))
    return joined(*(element("code", part) if index % 2 else part for index, part in parts))


def section(title: str, *content: str, **attributes: str) -> Html:
    return element("section", element("h2", title), *content, **attributes)


def note(*content: str) -> Html:
    return element("p", *content, class_="note")


def bullets(items: Iterable[str], class_: str, **attributes: str) -> Html:
    """A list; empty without items."""
    entries = [element("li", coded(item)) for item in items]
    return element("ul", *entries, class_=class_, **attributes) if entries else EMPTY


def cards(entries: Iterable[tuple[str, str, str]], class_: str = "headline") -> Html:
    """Large values side by side, each with its name above it and a remark below it."""
    found = (
        element(
            "div",
            element("dt", name),
            element("dd", value),
            element("dd", remark, class_="note") if remark else "",
        )
        for name, value, remark in entries
    )
    return element("dl", *found, class_=class_)


def bar(share: float, kind: str = "", *, ticks: Iterable[float] = (), class_: str = "bar") -> Html:
    """A bar that is filled up to a share, with ticks at other shares."""
    widths = [f"{100 * min(1.0, max(0.0, at)):.2f}%" for at in (share, *ticks)]
    return element(
        "span",
        element("i", class_=f"fill {kind}".strip(), style=f"width:{widths[0]}"),
        *(element("i", class_="tick", style=f"left:{width}") for width in widths[1:]),
        class_=class_,
        aria_hidden="true",
    )


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, class_: str = "") -> Html:
    """A table; the first cell of a row is its heading. Without `head` there is no heading row."""
    titles = list(head)
    body = [table_row(titles, row) for row in rows]
    return table_of(titles, body, class_)


def table_of(head: Sequence[str], body: Iterable[Html], class_: str) -> Html:
    """A table of made rows; with many columns, a narrow page has the cells below each other."""
    head_cells = [element("th", cell, scope="col") for cell in head]
    classes = [class_, "stacked" if len(head) > _FEW_COLUMNS else ""]
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *head_cells)) if head_cells else "",
            element("tbody", *body),
            class_=" ".join(filter(None, classes)) or None,
        ),
        class_="scroll",
    )


def table_row(head: Sequence[str], row: Iterable[str], **attributes: str | None) -> Html:
    """A row whose cells know the titles of their columns."""
    first, *rest = row
    labels = [_plain(title) for title in head[1:]] or [""] * len(rest)
    cells = [
        element("td", cell, data_label=label or None)
        for cell, label in zip(rest, labels, strict=True)
    ]
    return element("tr", element("th", first, scope="row"), *cells, **attributes)


def _plain(title: str) -> str:
    """A title without its markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", escaped(title)))


def left(content: str) -> Html:
    """Text in a table of numbers, aligned to the left."""
    return element("span", content, style="display:block;text-align:left")


def prose(content: str) -> Html:
    """Text in a table of numbers, wrapped to several lines."""
    style = "display:block;text-align:left;white-space:normal;min-width:9em"
    return element("span", content, style=style)


def folded(title: str, *content: Html, style: str | None = None) -> Html:
    return element("details", element("summary", title), *content, style=style)
