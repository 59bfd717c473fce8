"""Reading a page back: a strict little parser that keeps what the tests ask for."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link"}
"""Elements of the page without an end tag."""


class Page(HTMLParser):
    """Elements in order, and whether they were nested and closed properly."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Keep an element and open it."""
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Keep an element of SVG that closes itself."""
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        """Close the innermost element, which must be this one."""
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data):
        """Keep the text."""
        self.text += data

    def all(self, tag, **attributes):
        """Attributes of every element of this kind that has these."""
        return [have for name, have in self.found if name == tag and attributes.items() <= have.items()]

    def counts(self, mark):
        """Stated numbers of marks of one kind, one for each panel."""
        return [int(have["data-count"]) for have in self.all("g") if have.get("class") == mark and "data-count" in have]
