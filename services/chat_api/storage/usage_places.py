"""The place of a row in an answer of usage, as a cursor: what the answer is ordered by, and the row's values of it."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64Error
from collections.abc import Sequence
from datetime import date

from services.chat_api.storage.keyset import BadCursorError

Place = tuple[date | str, ...]


def cursor_of(shape: str, place: Sequence[date | str]) -> str:
    values = [one.isoformat() if isinstance(one, date) else one for one in place]
    return _encoded(json.dumps([shape, *values], ensure_ascii=False, separators=(",", ":")))


def place_of(cursor: str, shape: str, kinds: Sequence[type]) -> Place:
    """The values of that place, each of its kind (date or str). Raises BadCursorError, also for a cursor of another
    grouping."""
    try:
        if _encoded(text := urlsafe_b64decode(f"{cursor}==").decode()) != cursor:
            raise BadCursorError
        given = json.loads(text)
        if not isinstance(given, list) or len(given) != len(kinds) + 1 or given[0] != shape:
            raise BadCursorError
        return tuple(_value(one, kind) for one, kind in zip(given[1:], kinds, strict=True))
    except (NotBase64Error, ValueError, RecursionError):
        raise BadCursorError from None


def _value(given: object, kind: type) -> date | str:
    if not isinstance(given, str) or "\x00" in given:
        raise BadCursorError
    given.encode()  # Half a surrogate pair is no text that the database takes.
    return date.fromisoformat(given) if kind is date else given


def _encoded(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")
