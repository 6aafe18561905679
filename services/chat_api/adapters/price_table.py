"""List prices of providers, from the data that comes with `genai-prices`. Nothing is ever fetched."""

import logging
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from services.chat_api.domain.pricing import Price, Rates

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

logger = logging.getLogger(__name__)
CURRENCY: Final = "USD"
_RATE_OF = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "reasoning": "output_reasoning_mtok",
}
# A call of these costs more than its tokens say.
_NOT_BY_TOKENS = "requests_kcount"


class PriceTable:
    """Empty until it is loaded: then no price is known."""

    def __init__(self) -> None:
        self._snapshot: DataSnapshot | None = None

    def load(self) -> None:
        """Blocks for a second or two. A table that cannot be loaded is logged and stays empty."""
        try:
            from genai_prices.data_snapshot import get_snapshot

            self._snapshot = get_snapshot()
        except Exception as fault:  # noqa: BLE001 (without prices everything else works)
            logger.error("prices_not_loaded", extra={"error": type(fault).__name__})

    def provider_of(self, url: str) -> str | None:
        """The provider whose endpoint this is."""
        if self._snapshot is None:
            return None
        try:
            return self._snapshot.find_provider(None, None, url).id
        except LookupError:
            return None

    def price(self, provider: str, model: str, at: datetime) -> Price | None:
        """What the provider takes for the model at that time; None if that is not known."""
        if self._snapshot is None:
            return None
        try:
            _, found = self._snapshot.find_provider_model(model, None, provider, None)
        except LookupError:
            return None
        return _price_of(vars(found.get_prices(at)))


def _price_of(listed: Mapping[str, object]) -> Price | None:
    if listed.get(_NOT_BY_TOKENS) is not None:
        return None
    rates = _rates(listed, 0)
    if rates is None:
        return None
    starts = {tier.start for unit in _RATE_OF.values() for tier in getattr(listed.get(unit), "tiers", ())}
    above = [(start, _rates(listed, start + 1) or rates) for start in sorted(starts, reverse=True)]
    return Price(CURRENCY, rates, tuple(above))


def _rates(listed: Mapping[str, object], input_tokens: int) -> Rates | None:
    """None unless both the input and the output have a price."""
    found = {name: _rate(listed.get(unit), input_tokens) for name, unit in _RATE_OF.items()}
    asked, answered = found.pop("input"), found.pop("output")
    return None if asked is None or answered is None else Rates(asked, answered, **found)


def _rate(listed: object, input_tokens: int) -> Decimal | None:
    if listed is None or isinstance(listed, Decimal):
        return listed
    base: Decimal = getattr(listed, "base")  # noqa: B009 (the package tells no type that has both)
    tiers = reversed(getattr(listed, "tiers", ()))
    return next((Decimal(tier.price) for tier in tiers if input_tokens > tier.start), base)
