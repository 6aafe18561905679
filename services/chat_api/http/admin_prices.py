"""What models cost: the prices that hold, and those that administrators set in place of the providers' list."""

from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.chat_api.domain.pricing import Rates
from services.chat_api.domain.runtime_rules import PRICES_SETTING, PriceList, PriceOverride
from services.chat_api.http.authentication import AnyFront, AsAdmin
from services.chat_api.http.front import Front
from services.chat_api.http.identifiers import AnyPage
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.http.models import ModelName
from services.chat_api.http.preconditions import ExpectedRevision, set_etag
from services.chat_api.storage.keyset import page_of
from services.chat_api.use_cases.errors import SettingRefusedError
from services.chat_api.use_cases.price_calls import FoundPrice, PriceSource

router = APIRouter(prefix="/api/v1/admin/prices", tags=["admin"])
Rate = Annotated[Decimal, Field(ge=0, le=1_000_000, max_digits=16, decimal_places=9)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]


class PriceBody(BaseModel):
    """Rates are decimals for a million tokens. `source` says whose price holds; null rates are not known.

    `embedded` costs nothing. `longer_inputs` is true where long inputs have rates of their own beside these.
    """

    id: str
    object: Literal["model_price"] = "model_price"
    source: PriceSource
    currency: str | None = None
    input: Decimal | None = None
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    output: Decimal | None = None
    longer_inputs: bool = False


class PriceRequest(BaseModel):
    """For a million tokens. Without rates of their own, cached input and cache writes cost what input costs."""

    model_config = ConfigDict(extra="forbid")

    model: ModelName
    currency: Currency
    input: Rate
    cached_input: Rate | None = None
    cache_write: Rate | None = None
    output: Rate


class PricesRequest(BaseModel):
    """All prices of administrators as they shall be. A model that is left out costs what its provider lists."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "prices": [
                    {"model": "small-1", "currency": "EUR", "input": "0.40", "cached_input": "0.10", "output": "1.60"}
                ]
            }
        },
    )

    prices: list[PriceRequest] = Field(max_length=200)


@router.get("")
async def read_prices(_admin: AsAdmin, front: AnyFront, page: AnyPage, response: Response) -> ListBody[PriceBody]:
    """The price that holds for each allowed model and for each that has one of its own, with the setting's ETag."""
    set_etag(response, await front.change_settings.revision_of(PRICES_SETTING))
    bodies = _bodies(front)
    return list_body(page_of(bodies, lambda one: one.id, page), lambda one: one, lambda one: one.id)


@router.put("")
async def change_prices(
    body: PricesRequest, admin: AsAdmin, front: AnyFront, expected: ExpectedRevision, response: Response
) -> ListBody[PriceBody]:
    """Replace the prices of administrators. They hold for the next turn of every front; costs of the past stay."""
    overrides = tuple(PriceOverride.model_validate(price.model_dump()) for price in body.prices)
    if len({one.model for one in overrides}) < len(overrides):
        raise SettingRefusedError("Give each model one price.")
    stored = await front.change_settings.execute(admin, PRICES_SETTING, PriceList(overrides=overrides), expected)
    set_etag(response, stored.revision)
    bodies = _bodies(front)
    return ListBody(
        data=bodies,
        first_id=bodies[0].id if bodies else None,
        last_id=bodies[-1].id if bodies else None,
        has_more=False,
    )


def _bodies(front: Front) -> list[PriceBody]:
    names = dict.fromkeys((*front.models.names, *(one.model for one in front.runtime.current.prices.overrides)))
    return [_body(name, front.prices.find(front.models.provider, name)) for name in names]


def _body(model: str, found: FoundPrice) -> PriceBody:
    if found.source == "embedded":
        return PriceBody(id=model, source="embedded", input=Decimal(0), output=Decimal(0))
    if found.price is None:
        return PriceBody(id=model, source=found.source)
    rates: Rates = found.price.rates
    return PriceBody(
        id=model,
        source=found.source,
        currency=found.price.currency,
        input=rates.input,
        cached_input=rates.cached_input,
        cache_write=rates.cache_write,
        output=rates.output,
        longer_inputs=bool(found.price.above),
    )
