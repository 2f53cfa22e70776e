"""Building markup so that text is escaped unless it is known to be markup."""

from __future__ import annotations

import html
from collections.abc import Iterable


class Html(str):
    """Text that is markup already; any other text is escaped on its way into the page."""

    __slots__ = ()


def escaped(content: str) -> Html:
    """The content as markup: text is escaped, markup is left alone."""
    return content if isinstance(content, Html) else Html(html.escape(content))


def joined(parts: Iterable[str]) -> Html:
    """Several pieces of content, one after the other."""
    return Html("".join(escaped(part) for part in parts))


def element(tag: str, *content: str, **attributes: str | None) -> Html:
    """One element; `class_` becomes `class`, `data_x` becomes `data-x`, None is left out."""
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    written = "".join(
        f' {names[name]}="{html.escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{written}>{joined(content)}</{tag}>")


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, class_: str = "") -> Html:
    """A table in a box that scrolls sideways when the page is narrow.

    The first cell of a row is its heading. Without `head` there is no heading row.
    """
    head_cells = [element("th", cell, scope="col") for cell in head]
    body = [
        element(
            "tr",
            *(
                element("td", cell) if index else element("th", cell, scope="row")
                for index, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    parts = [element("tbody", *body)]
    if head_cells:
        parts.insert(0, element("thead", element("tr", *head_cells)))
    return element("div", element("table", *parts, class_=class_ or None), class_="scroll")


def left(content: str) -> Html:
    """A word in a table of numbers."""
    return element("span", content, style="display:block;text-align:left")


def prose(content: str) -> Html:
    """Words in a table of numbers, on as many lines as they need."""
    look = "display:block;text-align:left;white-space:normal;min-width:9em"
    return element("span", content, style=look)


def folded(title: str, *content: Html) -> Html:
    return element("details", element("summary", title), *content, style="margin-top:8px")
