"""The relevance floor: vector search always finds something, so something has to say "this is not it".

A logistic combination of three signals: the cosine of question and chunk, the same cosine over that of texts that
have nothing to do with anything (it takes out how near a question is to every text), and how much of the question's
wording stands in the chunk. A chunk in another language shares no wording, and gets constants of its own.

The constants were fitted on one half of the XQuAD articles and checked on the other, on indexes of one language, of
another language and of four, together with short questions to a handbook. Between languages the bar is set higher
than the fit, because there a question about something near is easily taken for one that is answered. What the floor
reaches on the running code: `python -m benchmarks.knowledge_store`.
"""

import math

from services.knowledge_store.domain.candidates import Candidate, Question
from services.knowledge_store.domain.language import Language

# An even chance for the best chunk; a chunk beside it may be weaker, because it only adds to what was found.
ANSWER_FLOOR = 0.5
COMPANION_FLOOR = 0.08
# A false hint names people and systems for nothing, so it has to be surer than an answer, which shows its grounds.
HINT_FLOOR = 0.92
# Log-odds. Beside a good answer that may be read, something hidden that fits far worse is noise, not a hint: with the
# demo handbook such noise stood 13 below the answer, and what was asked for and hidden above everything readable.
HINT_MARGIN = 8.0

_SAME_LANGUAGE: dict[Language, float] = {"en": -5.93, "de": -5.47, "ru": -6.06, "cjk": -6.33}
_OTHER_LANGUAGE: dict[tuple[Language, Language], float] = {
    ("en", "de"): -6.35,
    ("en", "ru"): -5.13,
    ("en", "cjk"): -3.49,
    ("de", "en"): -6.09,
    ("de", "ru"): -6.19,
    ("de", "cjk"): -5.08,
    ("ru", "en"): -5.08,
    ("ru", "de"): -4.82,
    ("ru", "cjk"): -5.15,
    ("cjk", "en"): -4.85,
    ("cjk", "de"): -4.79,
    ("cjk", "ru"): -5.17,
}
_UNMEASURED_SAME = -6.33
_UNMEASURED_OTHER = -6.59


def relevance(question: Question, candidate: Candidate) -> float:
    """How likely the chunk answers the question, 0 to 1."""
    return 1.0 / (1.0 + math.exp(-log_odds(question, candidate)))


def log_odds(question: Question, candidate: Candidate) -> float:
    """The same on the scale of logits, where differences keep their meaning far from the floor."""
    cosine, language = candidate.cosine, candidate.language
    over_background = cosine - question.background[language]
    if question.language is None or question.language == language:
        start = _SAME_LANGUAGE.get(language, _UNMEASURED_SAME)
        return start + 71.0 * (cosine - 0.84) + 30.3 * over_background + 11.5 * candidate.coverage
    start = _OTHER_LANGUAGE.get((question.language, language), _UNMEASURED_OTHER)
    return start + 63.4 * (cosine - 0.78) + 50.9 * over_background + 9.7 * candidate.coverage
