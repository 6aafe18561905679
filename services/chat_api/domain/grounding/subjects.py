"""A sentence that begins with somebody else: the predicate of one sentence under the subject of another."""

from services.chat_api.domain.grounding.alignment import UNMATCHED, related
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.tokens import HANCHAR, Token

_SHORTEST_HAN = 2


def has_foreign_subject(held: Comparison) -> bool:
    """Whether the words before the first matched one stand elsewhere in the passage, and the evidence has others there.

    New words there may be a paraphrase ("staff" for "employees"); words of another sentence are another subject.
    """
    if held.first or not held.placed:
        return False
    size = next(i for i, place in enumerate(held.at) if place != UNMATCHED)
    lead = [token for token in held.tokens[:size] if not token.framing]
    own = held.evidence.said.tokens[: held.at[size]]
    if not lead or not own or any(place < held.at[size] for place in held.placed):
        return False
    if any(held.in_context(token.key) for token in lead):
        return False
    if lead[0].kind == HANCHAR:
        return _stands_elsewhere(held, lead)
    strange = sum(token.weight for token in lead if token.key in held.passage.sentences_of and not _akin(token, own))
    return strange * 2 > sum(token.weight for token in lead)


def _stands_elsewhere(held: Comparison, lead: list[Token]) -> bool:
    run = "".join(token.key for token in lead if token.kind == HANCHAR)
    return len(run) >= _SHORTEST_HAN and run in held.passage.flat_text


def _akin(token: Token, others: list[Token]) -> bool:
    return any(related(token.key, other.key) for other in others)
