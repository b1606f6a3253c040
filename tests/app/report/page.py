"""Reads a page of HTML as a browser would, and keeps what tests ask for."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})
"""Elements that have no end."""


@dataclass
class Element:
    """One element that was opened: its name, attributes and the text inside."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> list["Element"]:
        """Return every element of a name inside this one, in order of the page."""
        found = [self] if self.tag == tag else []
        return found + [one for child in self.children for one in child.all(tag)]


class PageParser(HTMLParser):
    """Builds the tree; an end that meets no beginning, or the other way round, is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("page", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        element = Element(tag, dict(attrs))
        assert len(element.attributes) == len(attrs), f"an attribute of {tag} occurs twice"
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open and close an element, as SVG may."""
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        last = self.open.pop()
        assert last.tag == tag, f"</{tag}> closes <{last.tag}>"

    def handle_data(self, data: str) -> None:
        """Add text to every element that is open."""
        for element in self.open:
            element.text += data


def parsed_page(html: str) -> Element:
    """Return the tree of a page that is well formed."""
    parser = PageParser()
    parser.feed(html)
    parser.close()
    assert parser.open == [parser.root], f"never closed: {[one.tag for one in parser.open[1:]]}"
    return parser.root
