"""Two parts of the evidence that changed places around a third: who did it to whom."""

from dataclasses import dataclass

from services.chat_api.domain.grounding.alignment import UNMATCHED
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.tokens import CALENDAR, CAPITAL, HANCHAR, NUMBER, Token

_LONGEST_PART = 6
_LONGEST_HAN_PART = 14


@dataclass(frozen=True, slots=True)
class _Block:
    """A run of the sentence that stands in the evidence as it is; ends are exclusive."""

    start: int
    end: int
    their_start: int
    their_end: int


def check_exchange(held: Comparison) -> bool:
    """ "X A m B" told as "X B m A". Neighbours that merely swap ("X m A" for "X A m") are a matter of style."""
    if held.said.passive != held.evidence.said.passive:
        return False
    blocks = _blocks(held)
    if len(blocks) < 3:
        return False
    start = _Block(0, 0, 0, 0)
    for before, moved, after in zip([start, *blocks], blocks, blocks[1:], strict=False):
        if _takes_place(held, before, moved, after):
            return True
    return False


def _blocks(held: Comparison) -> list[_Block]:
    blocks: list[_Block] = []
    i = 0
    while i < len(held.at):
        if held.at[i] == UNMATCHED:
            i += 1
            continue
        end = i + 1
        while end < len(held.at) and held.at[end] == held.at[end - 1] + 1:
            end += 1
        blocks.append(_Block(i, end, held.at[i], held.at[end - 1] + 1))
        i = end
    return blocks


def _takes_place(held: Comparison, before: _Block, moved: _Block, after: _Block) -> bool:
    """Whether `moved` stands where the evidence has another part, which the sentence puts further on."""
    gap = range(before.their_end, after.their_start)
    if not gap or before.their_end <= moved.their_start < after.their_start or before.end != moved.start:
        return False
    longest = _LONGEST_HAN_PART if held.tokens[moved.start].kind == HANCHAR else _LONGEST_PART
    if moved.end - moved.start > longest or len(gap) > longest or moved.end != after.start:
        return False
    elsewhere = sum(held.placed.get(place, -1) >= after.end for place in gap)
    if elsewhere * 2 < len(gap) or moved.their_start < after.their_end:
        return False
    if not _same_kind(held, gap, moved):
        return False
    joints = held.evidence.said.joints
    return not (moved.their_start in joints and (after.their_start in joints or after.their_end in joints))


def _same_kind(held: Comparison, gap: range, moved: _Block) -> bool:
    """A name can take a name's place and a word a word's; the parts of one date may come in any order."""
    theirs = held.evidence.said.tokens
    kinds = {_kind(theirs[place]) for place in gap}
    ours = {_kind(theirs[place]) for place in range(moved.their_start, moved.their_end)}
    if ours == {"number"} and kinds == {"number"}:
        between = theirs[gap.start : moved.their_end]
        return not any(token.kind == CALENDAR for token in between) or any(_kind(t) != "number" for t in between)
    return bool(kinds & ours)


def _kind(token: Token) -> str:
    if token.kind in (NUMBER, CALENDAR) or token.key.startswith("u:"):
        return "number"
    return "name" if token.case >= CAPITAL else "word"
