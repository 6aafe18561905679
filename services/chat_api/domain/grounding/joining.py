"""Puts released pieces together again after a judge has taken some of them out."""

from services.chat_api.domain.grounding.release import ReleasedText


class Joined:
    """Call one of both for each piece, in the order in which the gate gave them."""

    def __init__(self) -> None:
        self._started = False
        self._frames = ""
        self._gap = 0

    def release(self, piece: ReleasedText) -> str:
        """The text to append. What led into a dropped item leads into the next one, unless that has its own."""
        text = piece.text
        if not piece.frames:
            if self._gap > _newlines(text):
                text = "\n" * self._gap + text.lstrip()
            text = self._frames + text
        text = text if self._started else text.lstrip()
        self._started, self._frames, self._gap = True, "", 0
        return text

    def drop(self, piece: ReleasedText) -> None:
        self._frames = piece.frames or self._frames
        self._gap = max(self._gap, _newlines(piece.text.removeprefix(self._frames)))


def _newlines(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")
