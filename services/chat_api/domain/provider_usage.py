"""What providers say a call used, in whatever shape, as one: caches inside the input, reasoning inside the output."""

from collections.abc import Mapping

from services.chat_api.domain.model_call import ModelUsage

# No model sees or writes as much in one call: a greater figure is a fault of whoever reports it.
_MOST_TOKENS = 20_000_000

_INPUT = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount")
_OUTPUT = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount")
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount")
_DETAILS = (
    "prompt_tokens_details",
    "input_tokens_details",
    "completion_tokens_details",
    "output_tokens_details",
)
_CACHED = (
    "cached_tokens",
    "cache_read_input_tokens",
    "cache_read_tokens",
    "prompt_cache_hit_tokens",
    "cacheReadInputTokens",
    "cachedContentTokenCount",
)
_WRITTEN = (
    "cache_creation_input_tokens",
    "cache_creation_tokens",
    "cache_write_tokens",
    "cache_write_input_tokens",
    "cacheWriteInputTokens",
)
_REASONING = ("reasoning_tokens", "thoughtsTokenCount")
# Whoever uses these names means, by `input_tokens`, what was neither read from a cache nor written to one.
_NAMES_BESIDE_INPUT = frozenset(
    ("cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheWriteInputTokens")
)
_BARE_INPUT = frozenset(("input_tokens", "inputTokens"))
_REASONING_BESIDE_OUTPUT = frozenset(("candidatesTokenCount", "thoughtsTokenCount"))


def read_usage(reported: object) -> ModelUsage | None:
    """None if the call's input or output is not told believably: then it is counted here. Raises nothing.

    Details that contradict the counts are left out. Nothing is derived from a total; it only says what is inside what.
    """
    if not isinstance(reported, Mapping):
        return None
    flat = _flattened(reported)
    asked, answered = _first(flat, _INPUT), _first(flat, _OUTPUT)
    if not asked or answered is None:
        return None
    total = _first(flat, _TOTAL)
    cached, written = _first(flat, _CACHED) or 0, _first(flat, _WRITTEN) or 0
    reasoning = _first(flat, _REASONING) or 0
    if _caches_are_beside(flat, asked, cached + written, None if total is None else total - answered):
        asked += cached + written
    if cached + written > asked:
        cached = written = 0
    if _reasoning_is_beside(flat, answered, reasoning, None if total is None else total - asked):
        answered += reasoning
    if reasoning > answered:
        reasoning = 0
    return ModelUsage(asked, answered, cached, written, reasoning)


def _flattened(reported: Mapping[object, object]) -> dict[str, object]:
    """Details beside the counts that they belong to. What stands further out wins."""
    flat: dict[str, object] = {}
    for name in _DETAILS:
        details = reported.get(name)
        if isinstance(details, Mapping):
            flat.update({str(key): value for key, value in details.items() if _count(value) is not None})
    flat.update({str(key): value for key, value in reported.items() if _count(value) is not None})
    return flat


def _first(flat: Mapping[str, object], names: tuple[str, ...]) -> int | None:
    """The first that is told; of several, one that is not 0."""
    counts = [count for name in names if (count := _count(flat.get(name))) is not None]
    return next((count for count in counts if count), counts[0] if counts else None)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _MOST_TOKENS and value == int(value) else None


def _caches_are_beside(flat: Mapping[str, object], asked: int, caches: int, asked_of_total: int | None) -> bool:
    if not caches or asked_of_total == asked + caches:
        return bool(caches)
    if _NAMES_BESIDE_INPUT.isdisjoint(flat):
        return False
    return caches > asked or ("prompt_tokens" not in flat and not _BARE_INPUT.isdisjoint(flat))


def _reasoning_is_beside(flat: Mapping[str, object], answered: int, reasoning: int, of_total: int | None) -> bool:
    if not reasoning:
        return False
    if of_total in (answered, answered + reasoning):
        return of_total != answered
    return flat.keys() >= _REASONING_BESIDE_OUTPUT
