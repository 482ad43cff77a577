"""Reads exported pages as a browser would: which elements, which attributes, which data."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """The elements of a page, its attributes, and the contents of its scripts and styles.

    Attributes:
        elements: how often each element occurs.
        attributes: all (element, name, value).
        contents: (element, its id or "", text) of scripts and styles, in order.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.contents: list[tuple[str, str, str]] = []
        self._open: tuple[str, str] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag in ("script", "style"):
            self._open = (tag, dict(attrs).get("id") or "")

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.contents.append((*self._open, data))

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def data(self, name: str) -> Any:
        """What a data element of this id holds."""
        return json.loads("".join(text for _, id_, text in self.contents if id_ == name))

    def content(self, tag: str) -> str:
        """The text of the only element of this kind without an id."""
        return "".join(text for kind, id_, text in self.contents if kind == tag and not id_)

    @property
    def policy(self) -> str:
        """Its content security policy."""
        values = [v for tag, name, v in self.attributes if tag == "meta" and name == "content"]
        return next(value for value in values if value and value.startswith("default-src"))
