"""Follow-ups that say only what changes: `And in Berlin?` means the question before it, in Berlin.

A rule, for the embedded answerer: a model formulates standalone questions by itself. It judges by words alone and takes
a short fragment for a follow-up; a short topic of its own (`Sick leave?`) is searched as it stands.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from services.chat_api.domain.grounding.language import Language, detect_language

_WORDS = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_MOST_WORDS = 7
_MOST_NEW_WORDS = 3
_MOST_HAN = 10
_EARLIER_KEPT = 6
_CHINESE_FOLLOW_UP = re.compile(
    r"^(?:那么?|还有|而且|但是?|如果)|[它他她]|[这那](?:个|些|里|样|种)|呢[?？。!！]*$"
    r"|^(?:为什么|多久|多少|谁|何时|什么时候|哪里|怎么办?)[?？。!！]*$|^在[^是有吗]{1,6}[?？]*$"
)
_CHINESE_FRAME = re.compile(r"^(?:那么?|还有|而且|但是?|在)|呢?[?？。!！]*$")


@dataclass(frozen=True, slots=True)
class _FollowUpWords:
    connectives: frozenset[str]
    pointing: frozenset[str]
    prepositions: frozenset[str]
    asking: frozenset[str]
    verbs: frozenset[str]
    function_words: frozenset[str]

    def is_new(self, word: str) -> bool:
        """A word that carries content of its own."""
        return not any(
            word in known
            for known in (
                *(self.connectives, self.pointing, self.prepositions),
                *(self.asking, self.verbs, self.function_words),
            )
        )


def standalone_question(message: str, earlier_questions: Sequence[str]) -> str:
    """The message as it stands, or with what the questions before it leave open, oldest first."""
    chain = [message]
    for earlier in reversed(earlier_questions[-_EARLIER_KEPT:]):
        if not leans_on_history(chain[-1]):
            break
        chain.append(earlier)
    question = chain.pop()
    while chain:
        question = _joined(question, chain.pop())
    return question


def leans_on_history(message: str) -> bool:
    """Whether the message cannot be understood, and so not be searched, by itself."""
    language = detect_language(message)
    if language == "zh":
        han = sum("\u4e00" <= char <= "\u9fff" for char in message)
        return han <= _MOST_HAN and _CHINESE_FOLLOW_UP.search(message.strip()) is not None
    words = _words_of(message)
    if not 0 < len(words) <= _MOST_WORDS:
        return False
    return any(_leans(words, _load(one)) for one in _candidates(language))


def _leans(words: list[str], known: _FollowUpWords) -> bool:
    if words[0] in known.connectives or any(word in known.pointing for word in words):
        return True
    new = [word for word in words if known.is_new(word)]
    if not new:
        # `How long?`, `Why?`: all question and no subject.
        return any(word in known.asking for word in words)
    if any(word in known.verbs for word in words):
        return False
    if words[0] in known.prepositions:
        return len(new) <= _MOST_NEW_WORDS and not any(word in known.asking for word in words)
    return words[0] in known.asking and len(new) == 1


def _joined(earlier: str, message: str) -> str:
    """The earlier question, without what the follow-up puts something else in the place of, and the follow-up."""
    language = detect_language(earlier)
    if language == "zh":
        return f"{earlier} {_CHINESE_FRAME.sub('', message.strip()) or message}"
    return f"{_without_replaced(earlier, message, _load(language))} {message}"


def _without_replaced(earlier: str, message: str, known: _FollowUpWords) -> str:
    """`… in Munich?` before `And in Berlin?` loses its `in Munich`: both cannot be meant."""
    replaced = next((word for word in _words_of(message) if word in known.prepositions), None)
    if replaced is None:
        return earlier
    spans = [(found.group().casefold(), found.span()) for found in _WORDS.finditer(earlier)]
    for at in range(len(spans) - 1, 0, -1):
        if spans[at][0] == replaced:
            end = at + 1
            while end < len(spans) and known.is_new(spans[end][0]):
                end += 1
            stop = spans[end - 1][1][1]
            if end == at + 1:
                return earlier
            return f"{earlier[: spans[at][1][0]].rstrip()}{earlier[stop:]}"
    return earlier


def _words_of(text: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(text)]


def _candidates(language: Language) -> tuple[Language, ...]:
    """A few Latin words say little about their language: both are tried."""
    return ("ru",) if language == "ru" else ("en", "de")


@cache
def _load(language: Language) -> _FollowUpWords:
    raw = tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    return _FollowUpWords(**{kind: frozenset(words.split()) for kind, words in raw.items()})
