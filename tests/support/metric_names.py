"""The names of series: those that a scrape shows, and those that PromQL asks for."""

import re

_TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.M)
_HISTOGRAM = ("_bucket", "_sum", "_count")
_STRING = re.compile(r"\"[^\"]*\"")
_LABELS = re.compile(r"\{[^}]*\}|\b(?:by|on|group_left|group_right|without|ignoring)\s*\([^)]*\)")
_NAME = re.compile(r"\b([a-z_][a-z0-9_:]*)\b(?!\s*\()", re.I)
_WORDS = frozenset({"and", "or", "unless", "on", "by", "group_left", "inf", "nan"})
_DURATION = re.compile(r"\[[^\]]*\]")


def shown_names(scrape: str) -> set[str]:
    """Every series that the text could hold, also where nothing was counted yet."""
    names: set[str] = set()
    for name, kind in _TYPE.findall(scrape):
        names |= {name + ending for ending in _HISTOGRAM} if kind == "histogram" else {name}
    return names


def asked_names(expression: str) -> set[str]:
    plain = _DURATION.sub("", _LABELS.sub("", _STRING.sub('""', expression)))
    return {name for name in _NAME.findall(plain) if name.lower() not in _WORDS}
