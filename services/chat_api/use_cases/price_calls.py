"""What each model call of a turn costs: by an administrator's price, else by the provider's list, else unknown."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol

from services.chat_api.domain.model_call import EMBEDDED_PROVIDER
from services.chat_api.domain.pricing import NOTHING, Money, Price, Tokens
from services.chat_api.domain.turn_record import ModelRun
from services.chat_api.use_cases.runtime_settings import RuntimeSettings

logger = logging.getLogger(__name__)
PriceSource = Literal["override", "list", "embedded", "unknown"]
# Looking a model up costs far more than pricing a call. A list price may change with the hour.
_SECONDS_REMEMBERED = 60
_MOST_REMEMBERED = 1_000


class ListPrices(Protocol):
    def price(self, provider: str, model: str, at: datetime) -> Price | None:
        """None: the provider or its price for this model is not known."""


@dataclass(frozen=True, slots=True)
class FoundPrice:
    """`price` is None for what is unknown, and for what is embedded: that costs nothing."""

    source: PriceSource
    price: Price | None = None

    def of(self, tokens: Tokens) -> Money | None:
        if self.price:
            return self.price.of(tokens)
        return NOTHING if self.source == "embedded" else None


_UNKNOWN = FoundPrice("unknown")
_EMBEDDED = FoundPrice("embedded")


class PriceCalls:
    """`unknown_provider` is the name of a provider that is not recognised, `stands_for` whose list prices it takes."""

    def __init__(
        self,
        runtime: RuntimeSettings,
        listed: ListPrices,
        now: Callable[[], datetime],
        *,
        unknown_provider: str,
        stands_for: str,
    ) -> None:
        self._runtime = runtime
        self._listed = listed
        self._now = now
        self._stands_for = {unknown_provider: stands_for}
        self._remembered: dict[tuple[str, str, str], FoundPrice] = {}
        self._remembered_at = (0, 0)

    def priced(self, run: ModelRun) -> ModelRun:
        """Raises nothing: a fault of the prices leaves the price unknown."""
        try:
            found = self.find(run.provider, run.model, run.asked_model)
            return replace(run, price=found.of(_tokens_of(run)))
        except Exception as fault:  # noqa: BLE001 (no price may harm a turn)
            logger.error("call_not_priced", extra={"error": type(fault).__name__})
            return run

    def find(self, provider: str, model: str, asked_model: str = "") -> FoundPrice:
        """By the name of the model that answered, else by the one that was asked."""
        if provider == EMBEDDED_PROVIDER:
            return _EMBEDDED
        now = self._now()
        at = (self._runtime.current.version, int(now.timestamp()) // _SECONDS_REMEMBERED)
        if at != self._remembered_at or len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered, self._remembered_at = {}, at
        key = (provider, model, asked_model)
        if key not in self._remembered:
            self._remembered[key] = self._look_up(provider, (model, asked_model or model), now)
        return self._remembered[key]

    def _look_up(self, provider: str, names: tuple[str, str], now: datetime) -> FoundPrice:
        overrides = self._runtime.current.prices
        for name in names:
            override = overrides.find(name)
            if override:
                return FoundPrice("override", override.price)
        payee = self._stands_for.get(provider, provider)
        for name in names:
            listed = self._listed.price(payee, name, now) if payee else None
            if listed:
                return FoundPrice("list", listed)
        return _UNKNOWN


def _tokens_of(run: ModelRun) -> Tokens:
    return Tokens(
        input=run.input_tokens,
        output=run.output_tokens,
        cached_input=run.cached_input_tokens,
        cache_write=run.cache_write_tokens,
        reasoning=run.reasoning_tokens,
    )
