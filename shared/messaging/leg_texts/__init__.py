"""What each leg's state means and what to do, in plain words; one file a language."""

import tomllib
from functools import cache
from importlib.resources import files

from shared.messaging.loop_health import Leg

LANGUAGES = ("en", "de", "ru", "zh")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


@cache
def leg_texts(language: str) -> dict[str, dict[str, str]]:
    """Kind of leg, then reason, to sentence with `{name}`, `{age}` and `{count}`."""
    return tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def leg_text(leg: Leg, language: str) -> str:
    kind, _, name = leg.name.partition(":")
    sentence = leg_texts(language)[kind][leg.reason]
    return sentence.format(name=name, age=_duration(leg.age), count=leg.count)


def _duration(seconds: float | None) -> str:
    for size, unit in _UNITS:
        if seconds is not None and seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds or 0:.0f} s"
