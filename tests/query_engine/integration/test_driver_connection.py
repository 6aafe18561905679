"""Statements that go past SQLAlchemy fail and recover as the others do."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from shared.database.driver import driver_connection
from shared.database.engine import make_engine
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]


async def run(engine: AsyncEngine, *statements: str) -> None:
    """All in one transaction."""
    async with driver_connection(engine) as connection, connection.transaction():
        for statement in statements:
            await connection.execute(statement)


async def ask(engine: AsyncEngine, statement: str) -> object:
    async with driver_connection(engine) as connection:
        return await connection.fetchval(statement)


async def test_a_refused_statement_says_why_and_the_connection_is_used_again(engine: AsyncEngine) -> None:
    first = await ask(engine, "SELECT pg_backend_pid()")
    with pytest.raises(DBAPIError) as refused:
        await run(engine, "SELECT 1 / 0")
    assert getattr(refused.value.orig, "sqlstate", "") == "22012"
    assert await ask(engine, "SELECT pg_backend_pid()") == first


async def test_a_transaction_that_fails_leaves_nothing(engine: AsyncEngine) -> None:
    with pytest.raises(DBAPIError):
        await run(engine, "CREATE TABLE left_over (id int)", "SELECT 1 / 0")
    assert await ask(engine, "SELECT to_regclass('left_over')") is None


async def test_connections_that_the_server_closed_are_not_used(engine: AsyncEngine) -> None:
    async with driver_connection(engine) as one, driver_connection(engine) as other:
        pids = [await connection.fetchval("SELECT pg_backend_pid()") for connection in (one, other)]
        held = [one, other]
    await _end(engine, pids)

    async def all_closed() -> bool:
        return all(connection.is_closed() for connection in held)

    await eventually(all_closed)
    for _ in range(3):
        assert await ask(engine, "SELECT 1") == 1


async def test_a_statement_given_up_does_not_answer_the_next_one(engine: AsyncEngine) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(ask(engine, "SELECT 'late' FROM pg_sleep(5)"), 0.2)
    assert await ask(engine, "SELECT 'prompt'") == "prompt"


async def _end(engine: AsyncEngine, pids: list[int]) -> None:
    """From a session of its own, which is none of those."""
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    other = make_engine(url, application_name="test-killer")
    async with other.connect() as connection:
        for pid in pids:
            await connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
    await other.dispose()
