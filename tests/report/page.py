"""Reading a report back, as a browser would see it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

_VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})


class Page(HTMLParser):
    """The elements of a page, each with its attributes and all text inside it."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if self._open:
            self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """Elements with these attributes; `class_` asks for one of the classes."""
        wanted = {name.rstrip("_").replace("_", "-"): text for name, text in attributes.items()}
        return [one for one in self.elements if tag in ("", one.tag) and one.has(wanted)]

    def one(self, tag: str = "", **attributes: str) -> Element:
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} elements <{tag} {attributes}>"
        return found[0]

    def charts(self) -> dict[str, Any]:
        """The descriptions that the page draws, by their id."""
        data = json.loads(self.one("script", id="report-data").text)
        return {chart["id"]: chart for chart in data["charts"]}

    def row(self, label: str) -> list[str]:
        """The cells of the first table row that begins with a label."""
        rows = [index for index, one in enumerate(self.elements) if one.tag == "tr"]
        for start, end in zip(rows, [*rows[1:], len(self.elements)], strict=True):
            cells = [one.text for one in self.elements[start:end] if one.tag in ("th", "td")]
            if cells and cells[0] == label:
                return cells[1:]
        raise AssertionError(f"no row {label!r}")


class Element:
    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.text = ""
        self.children: list[Element] = []

    def has(self, wanted: dict[str, str]) -> bool:
        return all(
            text in self.attributes.get(name, "").split()
            if name == "class"
            else self.attributes.get(name) == text
            for name, text in wanted.items()
        )
