"""A name or number must stand beside the words it stands beside in the evidence."""

from services.chat_api.domain.grounding.alignment import UNMATCHED
from services.chat_api.domain.grounding.comparison import Comparison
from services.chat_api.domain.grounding.exchanges import check_exchange
from services.chat_api.domain.grounding.subjects import has_foreign_subject
from services.chat_api.domain.grounding.tokens import CALENDAR, CAPITAL, HANCHAR, IDENTIFIER, NAME, NUMBER, WORD, Token

_LONGEST_NAME = 14
_SHORTEST_WITH_ENDING = 7


def _family(token: Token) -> int:
    """Tokens of one family can stand in each other's place; 0 is none."""
    if token.kind in (NUMBER, CALENDAR):
        return 1
    if token.kind == IDENTIFIER or (token.kind == WORD and token.case >= CAPITAL):
        return 2
    return 0


def check_slots(held: Comparison) -> bool:
    """Whether some name or number stands in another's place, or a word stands for a rival row or item."""
    if held.evidence.rivals and _names_rival(held):
        return True
    if held.evidence.table:
        return _wrong_column(held)
    if held.data.code == "zh" and _han_name_replaced(held):
        return True
    return has_foreign_subject(held) or _replaced(held) or _counts_other(held) or check_exchange(held)


def _names_rival(held: Comparison) -> bool:
    return any(held.at[i] == UNMATCHED and token.key in held.evidence.rivals for i, token in enumerate(held.tokens))


def _wrong_column(held: Comparison) -> bool:
    """Whether the header words nearest to some number name another column than the one it stands in."""
    said = held.evidence.said
    columns = [_header_columns(held, token) for token in held.tokens]
    for i, token in enumerate(held.tokens):
        if token.kind != NUMBER or held.at[i] == UNMATCHED:
            continue
        named = [k for k in range(len(columns)) if columns[k] and k != i]
        if not named:
            continue
        cells = {said.tokens[place].clause for place in said.positions.get(token.key, ())}
        if cells == {0}:
            continue
        nearest = min(named, key=lambda k: abs(k - i))
        if not cells & _named_together(columns, nearest):
            return True
    return False


def _header_columns(held: Comparison, token: Token) -> frozenset[int]:
    """The columns whose header has this word; the first one names the row and does not count."""
    said = held.evidence.said
    headers = held.evidence.header_end
    places = [place for place in said.positions.get(token.key, ()) if place in headers]
    return frozenset(said.tokens[place].clause for place in places) - {0}


def _named_together(columns: list[frozenset[int]], k: int) -> frozenset[int]:
    """ "Basic" and "fee" side by side name the one column that has both."""
    first = last = k
    while first > 0 and columns[first - 1]:
        first -= 1
    while last + 1 < len(columns) and columns[last + 1]:
        last += 1
    return frozenset.intersection(*columns[first : last + 1])


def _han_name_replaced(held: Comparison) -> bool:
    """Between the same words the evidence has a foreign name ("安娜·施密特") and the sentence something else."""
    theirs = held.evidence.said
    before = UNMATCHED
    skipped = False
    for i, place in enumerate(held.at):
        if place == UNMATCHED:
            skipped = skipped or held.tokens[i].kind == HANCHAR
            continue
        if skipped and before != UNMATCHED and before + 1 < place <= before + _LONGEST_NAME:
            left_out = theirs.text[theirs.tokens[before].start + 1 : theirs.tokens[place].start]
            if "·" in left_out:
                return True
        before, skipped = place, False
    return False


def _replaced(held: Comparison) -> bool:
    """Walks the edges of matched runs: beyond the edge both sides go on with another name, or another number."""
    passive_changed = held.said.passive != held.evidence.said.passive
    chinese = held.data.code == "zh"
    at = held.at
    last = len(at) - 1
    for i, place in enumerate(at):
        if place == UNMATCHED or (held.tokens[i].kind == HANCHAR and not chinese):
            continue
        if i < last and at[i + 1] != place + 1 and _conflict(held, i, place, 1, passive_changed=passive_changed):
            return True
        if i and at[i - 1] != place - 1 and _conflict(held, i, place, -1, passive_changed=passive_changed):
            return True
    return False


def _conflict(held: Comparison, i: int, place: int, step: int, *, passive_changed: bool) -> bool:
    theirs = held.evidence.said.tokens
    k, j = i + step, place + step
    if not (0 <= k < len(held.tokens) and 0 <= j < len(theirs)) or held.at[k] == j:
        return False
    ours, other = held.tokens[k], theirs[j]
    family = _family(ours)
    if _dates_a_name(held, k, other):
        return True
    if not family or family != _family(other) or ours.key == other.key or ours.key in other.others:
        return False
    if held.at[k] == UNMATCHED and ours.framing:
        return False
    if family == 2 and passive_changed:
        return False
    if family == 2 and _unsure_noun(held, ours, other) and not _parts_of_names(held, k, i, j, place):
        return False
    return not _skips(held, k, place, step) and not _continues(held, k, step, family) and not _listed(held, k, j)


def _unsure_noun(held: Comparison, ours: Token, other: Token) -> bool:
    if held.data.code != "de" or NAME in (ours.case, other.case):
        return False
    endings = held.data.noun_endings
    return _has_ending(ours.surface, endings)


def _has_ending(word: str, endings: tuple[str, ...]) -> bool:
    """ "Polizist" has the ending of its kind of noun, "Christ" has not."""
    return len(word) >= _SHORTEST_WITH_ENDING and word.casefold().endswith(endings)


def _parts_of_names(held: Comparison, k: int, i: int, j: int, place: int) -> bool:
    """Two words with a capital, side by side in both: German nouns have a small word between them, names have none."""
    theirs = held.evidence.said.tokens
    return _adjoin(held.tokens[k], held.tokens[i]) and _adjoin(theirs[j], theirs[place])


def _adjoin(one: Token, other: Token) -> bool:
    first, second = sorted((one, other), key=lambda token: token.start)
    is_name = first.case >= CAPITAL and second.case >= CAPITAL
    return is_name and second.start == first.start + len(first.surface) + 1


def _dates_a_name(held: Comparison, k: int, other: Token) -> bool:
    """A month or day where the evidence has a name, or the other way round."""
    ours = held.tokens[k]
    if held.at[k] != UNMATCHED or held.data.code != "de":
        return False
    kinds = (ours, other) if ours.kind == CALENDAR else (other, ours)
    return kinds[0].kind == CALENDAR and kinds[1].kind == WORD and kinds[1].case >= CAPITAL


def _skips(held: Comparison, k: int, place: int, step: int) -> bool:
    """The sentence leaves out what the evidence puts in between ("the Protocol (UDP) is" told as "the Protocol is")."""
    mine = held.at[k]
    if mine == UNMATCHED or (mine - place) * step <= 0:
        return False
    between = range(min(mine, place) + 1, max(mine, place))
    return not any(j in held.placed for j in between)


def _continues(held: Comparison, k: int, step: int, family: int) -> bool:
    """Beyond its own run of names, the word's next neighbour is the one it has in the evidence: a moved block."""
    if held.at[k] == UNMATCHED:
        return False
    while 0 <= k + step < len(held.tokens) and _family(held.tokens[k]) == family:
        if held.at[k + step] != held.at[k] + step:
            return False
        k += step
    return _family(held.tokens[k]) != family


def _listed(held: Comparison, k: int, j: int) -> bool:
    """Members of one list ("A, B and C") may change places."""
    mine = held.at[k]
    if mine == UNMATCHED or j not in held.placed:
        return False
    theirs = held.evidence.said.tokens
    low, high = min(mine, j), max(mine, j)
    between = theirs[low : high + 1]
    if any(_family(token) != _family(theirs[j]) for token in between):
        return False
    # Numbers side by side are two claims ("from 3 in May to 5"), unless they are the parts of a date.
    return _family(theirs[j]) != 1 or any(token.kind == CALENDAR for token in between)


def _counts_other(held: Comparison) -> bool:
    """ "four interceptions" where the evidence counts 24 of them."""
    theirs = held.evidence.said.tokens
    for i, token in enumerate(held.tokens[:-1]):
        if token.kind != NUMBER or held.at[i] == UNMATCHED or held.tokens[i + 1].kind != WORD:
            continue
        counted = held.at[i + 1]
        if counted <= 0 or held.tokens[i + 1].clause != token.clause:
            continue
        counter = theirs[counted - 1]
        if counter.kind == NUMBER and counter.key != token.key and token.key not in counter.others and not token.others:
            mine = held.at[i]
            if _listed(held, i, counted - 1):
                continue
            if abs(mine - counted) > 1 and len(held.evidence.said.positions[held.tokens[i + 1].key]) == 1:
                return True
    return False
