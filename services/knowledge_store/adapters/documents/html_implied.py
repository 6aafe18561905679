"""End tags that HTML lets an author leave out, and that the parser therefore nests into each other."""

from bs4 import BeautifulSoup

# Each kind of element ends where another of its group begins, unless one of the containers stands between them.
_GROUPS = (
    (("li",), ("ul", "ol", "menu")),
    (("dt", "dd"), ("dl",)),
    (("tr",), ("table", "thead", "tbody", "tfoot")),
    (("td", "th"), ("tr", "table")),
)


def close_implied(soup: BeautifulSoup) -> None:
    """`<li>one<li>two` is two items, not one inside the other."""
    for group, containers in _GROUPS:
        for tag in soup.find_all(group):
            around = tag.find_parent((*group, *containers))
            if around is not None and around.name in group:
                around.insert_after(tag.extract())
