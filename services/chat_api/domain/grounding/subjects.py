"""A sentence that begins with somebody else: the predicate of one sentence under the subject of another."""

from services.chat_api.domain.grounding.alignment import UNMATCHED, related
from services.chat_api.domain.grounding.analysed import Analysed
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.evidence import Evidence
from services.chat_api.domain.grounding.tokens import HANCHAR, Token

_SHORTEST_HAN = 2
_NAMED = 2.0


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
    if any(held.in_context(token.key) for token in lead) and not _has_named_subject(held, own):
        return False
    if lead[0].kind == HANCHAR:
        return _stands_elsewhere(held, lead)
    strange = sum(token.weight for token in lead if token.key in held.passage.sentences_of and not _akin(token, own))
    return strange * 2 > sum(token.weight for token in lead)


def takes_over_predicate(said: Analysed, cut: int, evidence: Evidence) -> bool:
    """Whether the part from `cut` on begins in the middle of its evidence, whose subject the part before lacks.

    "Land deforested since 1970, has been no advantage for Brazil": the predicate has lost its own subject.
    """
    places = (evidence.said.positions.get(token.key) for token in said.tokens[cut:])
    begins = next((min(found) for found in places if found), 0)
    own = evidence.said.tokens[:begins]
    before = {token.key for token in said.tokens[:cut]}
    return any(token.key not in before and token.key not in evidence.context and not token.framing for token in own)


def _stands_elsewhere(held: Comparison, lead: list[Token]) -> bool:
    run = "".join(token.key for token in lead if token.kind == HANCHAR)
    return len(run) >= _SHORTEST_HAN and run in held.passage.flat_text


def _has_named_subject(held: Comparison, own: list[Token]) -> bool:
    """Whether the evidence speaks of something else than its title: "the firm" may be it, "Borg Steel" is not."""
    return not held.evidence.said.pronoun and sum(token.weight for token in own if not token.framing) >= _NAMED


def _akin(token: Token, others: list[Token]) -> bool:
    return any(related(token.key, other.key) for other in others)
