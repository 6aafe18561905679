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
_PUNCTUATION = re.compile(r"[\s\W_]+")


def is_small_talk(message: str) -> bool:
    """A greeting, thanks or a goodbye, and nothing else."""
    if _CHINESE_SMALL_TALK.match(_PUNCTUATION.sub("", message)):
        return True
    words = [word.casefold() for word in _WORDS.findall(message)]
    return all(word in _SMALL_TALK for word in words)
