"""Model calls in the database, written as the worker writes them, and asking the front what they come to."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import httpx
from sqlalchemy.ext.asyncio import AsyncEngine

from services.signal_worker.storage.usage import apply_usage
from shared.database.engine import make_engine
from shared.events import UsageRecorded


async def record_calls(engine: AsyncEngine, *calls: UsageRecorded) -> None:
    async with engine.begin() as connection:
        await apply_usage(connection, calls)


async def record_calls_at(database_url: str, *calls: UsageRecorded) -> None:
    engine = make_engine(database_url, application_name="test")
    try:
        await record_calls(engine, *calls)
    finally:
        await engine.dispose()


async def walk_usage(client: httpx.AsyncClient, limit: int = 100, **question: Any) -> list[dict[str, Any]]:
    """Every row of the answer, page by page."""
    return [row async for page in usage_pages(client, limit, **question) for row in page]


async def usage_pages(client: httpx.AsyncClient, limit: int, **question: Any) -> AsyncIterator[list[dict[str, Any]]]:
    after: dict[str, str] = {}
    while True:
        response = await client.get("/api/v1/usage", params=_parameters({**question, "limit": limit, **after}))
        assert response.status_code == 200, response.text
        body = response.json()
        yield body["data"]
        if not body["has_more"]:
            return
        after = {"after": body["last_id"]}


async def usage_file(client: httpx.AsyncClient, export_format: str, **question: Any) -> httpx.Response:
    parameters = _parameters({**question, "format": export_format})
    response = await client.get("/api/v1/usage/export", params=parameters)
    assert response.status_code == 200, response.text
    return response


def sum_of_costs(rows: list[dict[str, Any]], currency: str, field: str = "cost") -> Decimal:
    return sum((Decimal(row[field]) for row in rows if row["currency"] == currency), Decimal(0))


def _parameters(question: dict[str, Any]) -> dict[str, Any]:
    """`start` and `end` stand for the parameters whose names Python keeps for itself."""
    names = {"start": "from", "end": "to"}
    return {names.get(name, name): value for name, value in question.items()}
