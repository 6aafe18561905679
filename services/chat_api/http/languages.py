"""The language in which a caller wants to read what we say: `Accept-Language`, English where nothing fits."""

from typing import Annotated, get_args

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from services.chat_api.domain.grounding.language import Language

_SUPPORTED: tuple[Language, ...] = get_args(Language)
_MOST_RANGES = 20


def preferred_language(header: str) -> Language:
    """The supported language with the highest weight; of equals the first named (RFC 9110, section 12.5.4)."""
    ranked = sorted((_weighted(part) for part in header.split(",")[:_MOST_RANGES]), key=lambda pair: -pair[0])
    for weight, primary in ranked:
        if weight <= 0:
            break
        for language in _SUPPORTED:
            if language == primary:
                return language
    return "en"


def language_of(connection: HTTPConnection) -> Language:
    return preferred_language(connection.headers.get("accept-language", ""))


def _weighted(part: str) -> tuple[float, str]:
    """Weight and primary subtag, so that `de-AT;q=0.8` is (0.8, "de"). An unreadable weight counts as none."""
    tag, _, parameter = part.partition(";")
    primary = tag.strip().lower().partition("-")[0]
    name, _, value = parameter.strip().partition("=")
    if not parameter:
        return 1.0, primary
    try:
        return (float(value) if name.strip() == "q" else 1.0), primary
    except ValueError:
        return 0.0, primary


async def _language_of_request(request: Request) -> Language:
    return language_of(request)


AnyLanguage = Annotated[Language, Depends(_language_of_request)]
