"""Tables made regular, so that each cell stands under the header of its own column."""

from bs4 import BeautifulSoup, Tag

_PARTS = ("thead", "tbody", "tfoot", "tr", "td", "th", "caption")
_MAX_SPAN = 200

# By column: how many rows a merged cell still reaches down, and what it says.
_Merged = dict[int, tuple[int, str]]


def straighten_tables(soup: BeautifulSoup) -> None:
    """Tables that only lay out a page are dissolved; merged cells are repeated; `|` in a cell splits nothing."""
    for table in [table for table in soup.find_all("table") if table.find("table") is not None]:
        for part in [tag for tag in table.find_all(_PARTS) if tag.find_parent("table") is table]:
            part.name = "div"
        table.name = "div"
    for table in soup.find_all("table"):
        above: _Merged = {}
        for row in table.find_all("tr"):
            above = _fill_row(soup, row, above)


def _fill_row(soup: BeautifulSoup, row: Tag, above: _Merged) -> _Merged:
    """Write the row out in full; returns what reaches down from it."""
    waiting = row.find_all(("td", "th"), recursive=False)
    cells: list[Tag] = []
    below: _Merged = {}
    column = 0
    while waiting or column in above:
        if column in above:
            left, said = above[column]
            cell, width = soup.new_tag("td", string=said), 1
        else:
            cell = waiting.pop(0)
            left, width = _span(cell, "rowspan"), _span(cell, "colspan")
            _clean(cell)
            said = cell.get_text(" ", strip=True)
        if left > 1:
            below |= {column + n: (left - 1, said) for n in range(width)}
        cells.append(cell)
        column += width
    row.clear()
    row.extend(cells)
    return below


def _clean(cell: Tag) -> None:
    for text in cell.find_all(string=lambda text: "|" in text):
        text.replace_with(text.replace("|", "/"))


def _span(cell: Tag, name: str) -> int:
    given = str(cell.get(name, "1"))
    return min(_MAX_SPAN, max(1, int(given))) if given.isascii() and given.isdigit() else 1
