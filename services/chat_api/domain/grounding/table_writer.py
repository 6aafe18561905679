"""A table that the model writes: its header and separator wait for the first supported row."""

from services.chat_api.domain.grounding.tables import is_separator, split_cells


class AnswerTable:
    def __init__(self) -> None:
        self._headers: list[str] = []
        self._header_line = ""
        self._body = False

    def close(self) -> None:
        self._headers, self._header_line, self._body = [], "", False

    def read(self, line: str) -> str | None:
        """The opening lines once they are complete, "" while they are not, None for a data row."""
        if is_separator(line):
            self._body = True
            opening, self._header_line = self._header_line, ""
            return f"{opening}\n{line}" if opening else ""
        if not self._headers and not self._body:
            self._headers, self._header_line = split_cells(line), line
            return ""
        return None

    def with_headers(self, line: str) -> str:
        cells = split_cells(line)
        pairs = zip(self._headers, cells, strict=False)
        return "; ".join(f"{header}: {cell}" if header else cell for header, cell in pairs if cell)

    def cells_only(self, line: str) -> str:
        return ", ".join(cell for cell in split_cells(line) if cell)
