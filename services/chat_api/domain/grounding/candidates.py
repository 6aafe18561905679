"""Which sentences of a chunk are worth holding a sentence against."""

from services.chat_api.domain.grounding.analysed import Analysed
from services.chat_api.domain.grounding.asking import AskedQuestion
from services.chat_api.domain.grounding.comparison import echo_length
from services.chat_api.domain.grounding.verdicts import Candidate, Source

MOST_CANDIDATES = 5
_WORTH_TRYING = 0.3
_PRONOUN_SHARE = 0.7
_FEW_SENTENCES = 4
_ASKED, _ECHOED = 0.5, 0.01
_NONE: list[int] = []


def find_candidates(said: Analysed, source: Source) -> list[Candidate]:
    """Sentences of the chunk that share most with what is said, best first; none if the chunk knows too little."""
    prepared, question = source.prepared, source.question
    scores: dict[int, float] = {}
    asked: dict[int, float] = {}
    total = known = 0.0
    sentences_of, question_keys = prepared.sentences_of, question.keys
    for token in said.tokens:
        amount = token.weight
        is_asked = token.key in question_keys
        numbers = sentences_of.get(token.key, _NONE)
        for key in token.others:
            numbers = [*numbers, *sentences_of.get(key, _NONE)]
        if is_asked:
            for number in numbers:
                asked[number] = asked.get(number, 0.0) + amount / len(numbers)
            continue
        for number in numbers:
            scores[number] = scores.get(number, 0.0) + amount
        if not token.framing:
            total += amount
            if numbers:
                known += amount
    if total and known < total * _WORTH_TRYING:
        return []
    # Where the question is repeated as it is, only the answer tells where to look.
    share = _ECHOED if scores and echo_length(said, question) else _ASKED
    for number, amount in asked.items():
        scores[number] = scores.get(number, 0.0) + share * amount
    best = sorted(scores, key=lambda number: (-scores[number], number))
    return [_candidate(source, number, scores[number], asked) for number in best[:MOST_CANDIDATES]]


def _candidate(source: Source, number: int, score: float, asked: dict[int, float]) -> Candidate:
    evidence = source.prepared.sentences[number]
    on_question = asked.get(number, 0.0)
    if len(source.prepared.sentences) <= _FEW_SENTENCES:
        # A chunk this short is about one thing: every sentence of it is on topic.
        on_question = max(asked.values(), default=0.0)
    elif evidence.said.pronoun:
        on_question += _PRONOUN_SHARE * max(asked.get(number - 1, 0.0), asked.get(number - 2, 0.0))
    return Candidate(source, number, evidence, score, on_question)


def touches_question(candidate: Candidate) -> bool:
    """A bare answer ("28.", "Berlin.") says nothing by itself: its evidence must be about the question."""
    keys, evidence = candidate.source.question.keys, candidate.evidence
    if not keys or len(candidate.source.prepared.sentences) <= _FEW_SENTENCES:
        return True
    return not keys.isdisjoint(evidence.said.positions) or not keys.isdisjoint(evidence.context | evidence.earlier)


def echoes_question(said: Analysed, question: AskedQuestion) -> bool:
    """Whether the sentence mostly repeats the question: then its evidence must be about the question too."""
    asked = sum(token.key in question.keys for token in said.tokens)
    return (
        asked >= 3 and asked * 2 >= len(said.tokens) and (asked < len(said.tokens) or echo_length(said, question) > 0)
    )
