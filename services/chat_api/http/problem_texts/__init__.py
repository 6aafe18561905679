"""Titles and details of problems in other languages than English, which stands with each error's class."""

import tomllib
from functools import cache
from importlib.resources import files

from services.chat_api.domain.grounding.language import Language
from shared.errors import AchillesError


@cache
def problem_texts(language: Language) -> dict[str, dict[str, str]]:
    """Code to `title` and, where something can be said for every case, `detail`."""
    return tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def localised(fault: AchillesError, language: Language) -> tuple[str, str]:
    """Title and detail. A detail that names a field or a value stays English: it is for whoever builds a client."""
    if language == "en" or fault.code not in problem_texts(language):
        return fault.title, fault.detail
    texts = problem_texts(language)[fault.code]
    own_detail = texts["title"] if fault.detail == fault.title else fault.detail
    return texts["title"], texts.get("detail", own_detail)
