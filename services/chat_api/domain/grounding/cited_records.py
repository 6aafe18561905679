"""Which records the answer cites so far, and what supports each best."""

from collections.abc import Iterable

from services.chat_api.domain.grounding.release import ReleasedText, Support
from services.chat_api.domain.grounding.verdicts import Backing, Verdict


def numbers_to_cite(verdict: Verdict, cited: tuple[int, ...]) -> tuple[int, ...]:
    """The model's own numbers as far as they support the sentence, else the best supporting record."""
    supporting = list(dict.fromkeys(backing.n for backing in verdict.backing))
    if verdict.joined:
        return tuple(supporting)
    named = tuple(number for number in cited if number in supporting)
    return named or (supporting[0],)


class CitedRecords:
    def __init__(self) -> None:
        self._entries: list[tuple[ReleasedText, Backing]] = []

    def add(self, piece: ReleasedText, backing: Iterable[Backing]) -> None:
        self._entries += [(piece, one) for one in backing if one.n in piece.citations]

    def withdraw(self, piece: ReleasedText) -> None:
        self._entries = [entry for entry in self._entries if entry[0] is not piece]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Each once, in the order of their first citation."""
        return tuple(dict.fromkeys(backing.n for _piece, backing in self._entries))

    def support(self, n: int) -> Support | None:
        best = max((one for _piece, one in self._entries if one.n == n), key=lambda one: one.covered, default=None)
        return None if best is None else Support(best.chunk_id, best.quote)
