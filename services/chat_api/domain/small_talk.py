"""The rule by which the embedded answerer decides to search: everything is a question, unless it plainly is not."""

import re

_WORDS = re.compile(r"\w+")
_SMALL_TALK = frozenset(
    _WORDS.findall(
        """
        hi hello hey thanks thank you very much so good morning afternoon evening bye goodbye ok okay great nice cool
        привет здравствуйте здравствуй спасибо большое добрый день утро вечер доброе пока до свидания хорошо отлично
        hallo danke vielen dank schön guten tag morgen abend tschüss auf wiedersehen moin servus super gut there
        """
    )
)
_CHINESE_SMALL_TALK = re.compile(r"^(?:你好|您好|谢谢(?:你|您)?|多谢|再见|早上好|晚上好|好的|嗨)+$")
_OPENING = r"and|but|what about|how about|а|и|und|wie ist es|那|那么|还有"
_POINTING = (
    r"it|they|them|that|those|these|he|she|his|her|their|"
    r"он|она|они|это|его|её|их|этого|es|sie|er|das|dort|它|他|她|这个|那个"
)
_FOLLOW_UP = re.compile(rf"^(?:{_OPENING})\b|\b(?:{_POINTING})\b", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\s\W_]+")
_SHORT_WORDS = 6
_SHORT_HAN = 8


def is_small_talk(message: str) -> bool:
    """A greeting, thanks or a goodbye, and nothing else."""
    if _CHINESE_SMALL_TALK.match(_PUNCTUATION.sub("", message)):
        return True
    words = [word.casefold() for word in _WORDS.findall(message)]
    return all(word in _SMALL_TALK for word in words)


def standalone_question(message: str, earlier_questions: tuple[str, ...]) -> str:
    """A short follow-up gets the question before it in front, so that it can be searched by itself."""
    if not earlier_questions or not _leans_on_history(message):
        return message
    return f"{earlier_questions[-1]} {message}"


def _leans_on_history(message: str) -> bool:
    han = sum("\u4e00" <= char <= "\u9fff" for char in message)
    short = han <= _SHORT_HAN if han else len(_WORDS.findall(message)) <= _SHORT_WORDS
    return short and _FOLLOW_UP.search(message.strip()) is not None
