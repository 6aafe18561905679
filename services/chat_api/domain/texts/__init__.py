"""Every sentence that the user reads from us; one file a language."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from services.chat_api.domain.grounding.language import Language

TextKey = Literal[
    "not_found",
    "unsupported",
    "withheld",
    "withheld_system",
    "withheld_contact",
    "knowledge_failed",
    "web_failed",
    "notice_knowledge_unreachable",
    "notice_web_unreachable",
    "model_failed",
    "model_busy",
    "tool_call_unusable",
    "turn_timeout",
    "not_saved",
    "internal",
    "notice_conversational",
    "notice_quoted",
    "notice_model_replaced",
    "greeting",
    "too_long",
    "model_refused",
    "failed_earlier",
    "source_not_found_title",
    "source_not_found",
    "source_unreachable_title",
    "source_unreachable",
]


@cache
def texts_in(language: Language) -> dict[str, str]:
    """Key to sentence, with `{placeholders}` where a sentence has them."""
    return tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def text_for(key: TextKey, language: Language, **values: str) -> str:
    """The sentence in that language, with its placeholders filled."""
    return texts_in(language)[key].format(**values)
