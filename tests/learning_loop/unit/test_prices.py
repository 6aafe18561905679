"""What calls cost: cached apart from uncached, exact, and unknown rather than nothing."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from genai_prices import Usage
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, Provider

from services.chat_api.adapters.price_table import PriceTable
from services.chat_api.domain.judge import JUDGE_PROMPT
from services.chat_api.domain.model_call import EMBEDDED_PROVIDER
from services.chat_api.domain.pricing import NOTHING, Money, Price, Rates, Tokens
from services.chat_api.domain.runtime_rules import ModelList, PriceList, PriceOverride, RuntimeRules
from services.chat_api.domain.turn_record import ModelRun
from services.chat_api.use_cases.price_calls import PriceCalls
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from shared.database.engine import make_engine
from tests.support.factories import make_model_run

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
_UNKNOWN = "openai_compatible"


@pytest.fixture(scope="module")
def table() -> PriceTable:
    found = PriceTable()
    found.load()
    return found


class _Listed:
    """A list of two models of one provider, that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def price(self, provider: str, model: str, at: datetime) -> Price | None:
        self.asked += 1
        if provider != "openai" or model not in ("m-1", "m-1-2026-08-06"):
            return None
        return Price("USD", Rates(Decimal(2), Decimal(8), Decimal("0.5"), Decimal("2.5")))


class _Broken:
    def price(self, provider: str, model: str, at: datetime) -> Price | None:
        raise RuntimeError("no prices today")


def _pricing(listed: Any = None, *overrides: PriceOverride, stands_for: str = "") -> PriceCalls:
    rules = RuntimeRules(ModelList(default="m-1", allowed=("m-1",)), prices=PriceList(overrides=overrides))
    runtime = RuntimeSettings(make_engine("postgresql://nobody@127.0.0.1:1/none", application_name="test"), rules)
    listed = listed or _Listed()
    return PriceCalls(runtime, listed, lambda: _AT, unknown_provider=_UNKNOWN, stands_for=stands_for)


def _run(**more: Any) -> ModelRun:
    return replace(make_model_run(JUDGE_PROMPT), provider="openai", **more)


def _cost(pricing: PriceCalls, provider: str = "openai", **run: Any) -> Money | None:
    return pricing.priced(replace(_run(**run), provider=provider)).price


_OVERRIDE = PriceOverride(model="m-1", currency="EUR", input=Decimal(1), cached_input=Decimal(0), output=Decimal(3))


@pytest.mark.req("LOOP-26")
def test_cached_and_uncached_input_and_cache_writes_cost_apart() -> None:
    found = _cost(_pricing(), input_tokens=1_000, cached_input_tokens=400, cache_write_tokens=100, output_tokens=50)
    # 500 plain at 2, 400 cached at 0.5, 100 written at 2.5, 50 out at 8, for a million each.
    assert found == Money(Decimal("0.00185"), "USD")


@pytest.mark.req("LOOP-26")
def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    assert _cost(_pricing(), model="served-1") is None
    assert _cost(_pricing(), provider="elsewhere") is None
    assert _cost(_pricing(), provider=_UNKNOWN) is None


@pytest.mark.req("LOOP-26")
def test_a_price_of_nothing_that_was_set_is_nothing() -> None:
    free = PriceOverride(model="m-1", currency="EUR", input=Decimal(0), output=Decimal(0))
    assert _cost(_pricing(None, free), input_tokens=1_000) == Money(Decimal(0), "EUR")


@pytest.mark.req("LOOP-26")
def test_an_administrators_price_comes_before_the_list() -> None:
    found = _cost(_pricing(None, _OVERRIDE), input_tokens=1_000, cached_input_tokens=400, output_tokens=50)
    assert found == Money(Decimal("0.00075"), "EUR")


def test_a_price_for_the_model_that_was_asked_holds_for_the_dated_one_that_answered() -> None:
    pricing = _pricing(None, _OVERRIDE)
    found = _cost(pricing, model="m-1-2026-08-06", asked_model="m-1", input_tokens=1_000_000, output_tokens=0)
    assert found == Money(Decimal(1), "EUR")


def test_cache_writes_without_a_rate_cost_what_input_costs() -> None:
    found = _cost(_pricing(None, _OVERRIDE), input_tokens=1_000_000, cache_write_tokens=1_000_000, output_tokens=0)
    assert found == Money(Decimal(1), "EUR")


def test_the_embedded_answerer_costs_nothing() -> None:
    assert _cost(_pricing(), provider=EMBEDDED_PROVIDER, model="quotes") == NOTHING


def test_an_unrecognised_endpoint_takes_the_prices_that_it_is_said_to_take() -> None:
    assert _cost(_pricing(stands_for="openai"), provider=_UNKNOWN, input_tokens=1_000_000, output_tokens=0) == Money(
        Decimal(2), "USD"
    )


def test_a_failing_list_leaves_the_call_as_it_was() -> None:
    run = _run()
    assert _pricing(_Broken()).priced(run) == run


def test_a_model_is_looked_up_once_not_for_each_call() -> None:
    listed = _Listed()
    pricing = _pricing(listed)
    for _ in range(50):
        assert _cost(pricing)
    assert listed.asked == 1


def test_long_inputs_cost_what_long_inputs_cost() -> None:
    price = Price("USD", Rates(Decimal(3), Decimal(15)), ((200_000, Rates(Decimal(6), Decimal(22))),))
    assert price.of(Tokens(200_000, 0)) == Money(Decimal("0.6"), "USD")
    assert price.of(Tokens(200_001, 0)) == Money(Decimal("1.200006"), "USD")


_USES = (
    Tokens(1_000, 100),
    Tokens(1_000, 100, cached_input=600, cache_write=200),
    Tokens(300_000, 5_000, cached_input=100_000, cache_write=50_000, reasoning=4_000),
    Tokens(1_500_000, 0, cached_input=1_500_000),
)


@pytest.mark.req("LOOP-26")
def test_prices_are_those_of_the_maintained_table(table: PriceTable) -> None:
    """For every model of the table that has a price by tokens, as its own arithmetic has it."""
    compared = 0
    for provider, model in _listed_models():
        price = table.price(provider.id, model.id, _AT)
        if price is None or get_snapshot().find_provider_model(model.id, None, provider.id, None)[1] is not model:
            continue
        for tokens in _USES:
            expected = model.calc_price(_usage(tokens), provider, genai_request_timestamp=_AT).total_price
            assert abs(price.of(tokens).amount - expected) <= Decimal("0.00000000005"), (provider.id, model.id, tokens)
            compared += 1
    assert compared > 1_000


def test_the_table_never_fetches_anything(table: PriceTable) -> None:
    assert table.price("openai", "gpt-4o", _AT)
    assert get_snapshot().from_auto_update is False


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://models.example.com/v1", None),
        ("http://127.0.0.1:11434/v1", None),
    ],
)
def test_a_provider_is_recognised_by_its_address(table: PriceTable, url: str, provider: str | None) -> None:
    assert table.provider_of(url) == provider


def test_a_table_that_is_not_loaded_knows_nothing() -> None:
    empty = PriceTable()
    assert empty.price("openai", "gpt-4o", _AT) is None
    assert empty.provider_of("https://api.openai.com/v1") is None


def _listed_models() -> Iterator[tuple[Provider, ModelInfo]]:
    for provider in get_snapshot().providers:
        for model in provider.models:
            # A part of the long lists is enough: the arithmetic is the same for all.
            if len(provider.models) < 30 or ord(model.id[-1]) % 5 == 0 or "tiers" in repr(model.prices):
                yield provider, model


def _usage(tokens: Tokens) -> Usage:
    return Usage(
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cached_input,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
        output_reasoning_tokens=tokens.reasoning,
    )
