"""Every setting of every service, read off the classes that define them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from services.chat_api.settings import ChatApiSettings
from services.knowledge_store.settings import IngestSettings, KnowledgeStoreSettings
from services.signal_worker.settings import SignalWorkerSettings
from services.trace_writer.settings import TraceWriterSettings
from shared.settings import ENV_PREFIX, AchillesSettings

SETTINGS_OF: dict[str, type[AchillesSettings]] = {
    "chat_api": ChatApiSettings,
    "knowledge_store": KnowledgeStoreSettings,
    "signal_worker": SignalWorkerSettings,
    "trace_writer": TraceWriterSettings,
    "achilles ingest": IngestSettings,
}
_BOUNDS: dict[type[Any], tuple[str, str]] = {Ge: ("ge", "≥"), Gt: ("gt", ">"), Le: ("le", "≤"), Lt: ("lt", "<")}


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """`default` is None where a value is required. `alternative` is read when the variable is not set."""

    variable: str
    kind: str
    default: str | None
    meaning: str
    is_secret: bool
    alternative: str | None
    services: tuple[str, ...] = ()


def list_settings() -> tuple[SettingEntry, ...]:
    """By variable; one that means different things to different services is listed once for each meaning."""
    found: dict[SettingEntry, list[str]] = {}
    for service, settings_class in SETTINGS_OF.items():
        for name, field in settings_class.model_fields.items():
            found.setdefault(_described(name, field), []).append(service)
    entries = (replace(described, services=tuple(services)) for described, services in found.items())
    return tuple(sorted(entries, key=lambda entry: (entry.variable, entry.services)))


def _described(name: str, field: FieldInfo) -> SettingEntry:
    variable, alternative = _variables(name, field)
    meaning = ". ".join(part.rstrip(".") for part in (field.title or "", field.description or "") if part)
    return SettingEntry(variable, _kind(field), _default(field.default), meaning, _is_secret(field), alternative)


def _variables(name: str, field: FieldInfo) -> tuple[str, str | None]:
    alias = field.validation_alias
    if not isinstance(alias, AliasChoices):
        return f"{ENV_PREFIX}{name.upper()}", None
    names = [str(choice) for choice in alias.choices if str(choice).startswith(ENV_PREFIX)]
    return names[0], names[1] if len(names) > 1 else None


def _is_secret(field: FieldInfo) -> bool:
    return SecretStr in (field.annotation, *get_args(field.annotation))


def _kind(field: FieldInfo) -> str:
    annotation: Any = field.annotation
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(annotation))
    plain = next((one for one in (annotation, *get_args(annotation)) if one in _KINDS), None)
    return " ".join((_KINDS[plain] if plain else str(annotation), *_bounds(field))).strip()


_KINDS: dict[object, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    SecretStr: "text",
    timedelta: "duration",
}


def _bounds(field: FieldInfo) -> Iterator[str]:
    for bound in field.metadata:
        if type(bound) in _BOUNDS:
            attribute, sign = _BOUNDS[type(bound)]
            value = getattr(bound, attribute)
            yield f"{sign} {_text(value)}"


def _default(value: object) -> str | None:
    if value is PydanticUndefined:
        return None
    if isinstance(value, SecretStr):
        return ""
    return _text(value)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        return _duration(value)
    return str(value)


def _duration(value: timedelta) -> str:
    """In the largest unit that leaves a whole number."""
    seconds = value.total_seconds()
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds and seconds % length == 0:
            return f"{seconds / length:g} {unit}"
    return f"{seconds:g} s"
