"""Whether the candidates support a sentence: one alone, or two of them a part each."""

from services.chat_api.domain.grounding.analysed import Analysed
from services.chat_api.domain.grounding.answer_fit import answers_elsewhere
from services.chat_api.domain.grounding.candidates import MOST_CANDIDATES, echoes_question, touches_question
from services.chat_api.domain.grounding.claims import check_claims
from services.chat_api.domain.grounding.comparison import Comparison, echo_length
from services.chat_api.domain.grounding.coverage import COVERAGE, check_coverage
from services.chat_api.domain.grounding.evidence import Evidence
from services.chat_api.domain.grounding.meaning import check_meaning
from services.chat_api.domain.grounding.release import RejectionReason
from services.chat_api.domain.grounding.slots import check_slots
from services.chat_api.domain.grounding.subjects import takes_over_predicate
from services.chat_api.domain.grounding.verdicts import Backing, Candidate, Verdict

_SHORTEST_PART = 3
_CERTAIN = 0.95
_HOPELESS = 0.3
_ON_TOPIC = 0.2
_MOST_SPLITS = 3
_RUNNER_UP = 0.5
_BARE = 1

# Reasons that say "not in this sentence", so that the evidence may stand in two. The others say "said otherwise".
_WEAK = frozenset(
    {
        RejectionReason.UNKNOWN_NUMBER,
        RejectionReason.UNKNOWN_NAME,
        RejectionReason.UNKNOWN_IDENTIFIER,
        RejectionReason.LOW_COVERAGE,
        RejectionReason.UNMATCHED_CLAUSE,
        RejectionReason.NEGATION_CHANGED,
        RejectionReason.STRENGTH_CHANGED,
    }
)


# A part of the sentence may stand in another's slot where two sentences of the passage were merged.
_ELSEWHERE = _WEAK | {RejectionReason.SLOT_CHANGED}


def judge_candidates(said: dict[str, Analysed], candidates: list[Candidate], *, exhaustive: bool) -> Verdict:
    """`exhaustive` looks at every candidate: each of several cited records must show whether it supports."""
    passed: list[Backing] = []
    failed: list[tuple[float, RejectionReason]] = []
    most_asked = max((candidate.asked for candidate in candidates), default=0.0)
    for candidate in candidates:
        if candidate.score < _RUNNER_UP * candidates[0].score and not exhaustive:
            break
        analysed = said[candidate.source.data.code]
        first = echo_length(analysed, candidate.source.question)
        if not first and _off_topic(analysed, candidate, most_asked):
            failed.append((0.0, RejectionReason.LOW_COVERAGE))
            continue
        reason, covered = _check(analysed, candidate, first, len(analysed.tokens))
        if reason is None and _misplaced(analysed, candidate, first):
            reason = RejectionReason.SLOT_CHANGED
        if reason is not None:
            failed.append((covered, reason))
            continue
        passed.append(_backing(candidate, covered))
        if covered >= _CERTAIN and not failed and not exhaustive:
            break
    worst = max((covered for covered, reason in failed if reason not in _WEAK), default=0.0)
    passed = [backing for backing in passed if backing.covered >= worst - 0.1]
    if passed:
        return Verdict(tuple(sorted(passed, key=lambda backing: -backing.covered)))
    if failed and all(reason in _ELSEWHERE for _covered, reason in failed) and _may_be_joined(said, candidates):
        joined = _join(said, candidates)
        if joined:
            return Verdict(joined, joined=True)
    return Verdict((), max(failed, key=lambda pair: pair[0])[1] if failed else RejectionReason.LOW_COVERAGE)


def _off_topic(said: Analysed, candidate: Candidate, most_asked: float) -> bool:
    """An answer that repeats the question, or is but a word, must come from where the question is spoken of."""
    if len(said.tokens) <= _BARE and not touches_question(candidate):
        return True
    return candidate.asked < _ON_TOPIC * most_asked and echoes_question(said, candidate.source.question)


def _misplaced(said: Analysed, candidate: Candidate, first: int) -> bool:
    """Whether a sentence that repeats the question answers it with something that stands there for something else."""
    source = candidate.source
    if candidate.evidence.said.text == said.text or not (first or echoes_question(said, source.question)):
        return False
    asked = source.asked()
    held = Comparison(said, candidate.evidence, source.prepared, source.question, first, len(said.tokens))
    return asked.known and answers_elsewhere(held, asked, candidate.number, bare=first > 0)


def _check(said: Analysed, candidate: Candidate, first: int, last: int) -> tuple[RejectionReason | None, float]:
    source = candidate.source
    if candidate.evidence.said.text == said.text and (first, last) == (0, len(said.tokens)):
        return None, 1.0
    held = Comparison(said, candidate.evidence, source.prepared, source.question, first, last)
    reason, covered = check_coverage(held)
    if covered < _HOPELESS:
        return reason or RejectionReason.LOW_COVERAGE, covered
    reason = check_claims(held) or reason or check_meaning(held)
    # Where most of the sentence stands here, a replaced name or number is a contradiction, not a matter of elsewhere.
    if (reason is None or (reason in _WEAK and covered >= COVERAGE)) and check_slots(held):
        reason = RejectionReason.SLOT_CHANGED
    return reason, covered


def _backing(candidate: Candidate, covered: float) -> Backing:
    passage = candidate.source.passage
    return Backing(passage.n, passage.chunk_id, candidate.evidence.text, covered)


def _may_be_joined(said: dict[str, Analysed], candidates: list[Candidate]) -> bool:
    analysed = said[candidates[0].source.data.code]
    return bool(analysed.joints) and not echo_length(analysed, candidates[0].source.question)


def _join(said: dict[str, Analysed], candidates: list[Candidate]) -> tuple[Backing, ...]:
    """Two pieces of evidence, one for each part of the sentence, if every part stands on its own."""
    code = candidates[0].source.data.code
    analysed = said[code]
    size = len(analysed.tokens)
    cuts = [cut for cut in sorted(analysed.parts | analysed.joints) if _SHORTEST_PART <= cut <= size - _SHORTEST_PART]
    usable = [candidate for candidate in candidates if candidate.source.data.code == code][:MOST_CANDIDATES]
    if not cuts or len(usable) < 2:
        return ()
    held = [_running_matches(analysed, candidate.evidence) for candidate in usable]
    for cut, left, right in _splits(cuts, held, size):
        reason, covered = _check(analysed, usable[left], 0, cut)
        if reason is not None or (usable[left].evidence.rivals and usable[right].evidence.rivals):
            continue
        other_reason, other_covered = _check(analysed, usable[right], cut, size)
        # A bare comma may as well open an apposition to the part before: then nearly every word must be found.
        sure = cut in analysed.parts or min(covered, other_covered) >= _CERTAIN
        if other_reason is None and sure and not takes_over_predicate(analysed, cut, usable[right].evidence):
            return _backing(usable[left], covered), _backing(usable[right], other_covered)
    return ()


def _splits(cuts: list[int], held: list[list[int]], size: int) -> list[tuple[int, int, int]]:
    """(cut, left evidence, right evidence), most promising first: nearly all words must stand on their side."""
    found = []
    for cut in cuts:
        left = max(range(len(held)), key=lambda k: (held[k][cut], -k))
        right = max(range(len(held)), key=lambda k: (held[k][size] - held[k][cut], -k))
        matched = held[left][cut] + held[right][size] - held[right][cut]
        if left != right and matched >= COVERAGE * size:
            found.append((matched, cut, left, right))
    found.sort(key=lambda split: (-split[0], split[1]))
    return [(cut, left, right) for _matched, cut, left, right in found[:_MOST_SPLITS]]


def _running_matches(said: Analysed, evidence: Evidence) -> list[int]:
    """Entry i: how many of the first i tokens stand in the evidence."""
    positions = evidence.said.positions
    running = [0]
    count = 0
    for token in said.tokens:
        if token.key in positions or (token.others and any(other in positions for other in token.others)):
            count += 1
        running.append(count)
    return running
