"""The promises between the pull loop and the client library."""

import asyncio

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError
from nats.errors import TimeoutError as NothingToFetchError

from shared.messaging.guarded_pull import GuardedPull

pytestmark = [pytest.mark.unit, pytest.mark.p1]


class _ScriptedPull:
    def __init__(self, *results: list[Msg] | Exception) -> None:
        self._results = list(results)
        self.fetches = 0

    async def fetch(self, batch: int, timeout: float | None) -> list[Msg]:  # noqa: ASYNC109
        self.fetches += 1
        result = self._results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result[:batch]

    async def unsubscribe(self) -> None:
        return


def _message() -> Msg:
    return Msg(_client=Client())


async def test_a_batch_is_handed_over_without_waiting_to_fill_it() -> None:
    pull = _ScriptedPull([_message()], [_message()])
    guarded = GuardedPull(pull)
    assert len(await guarded.fetch(100, 5)) == 1
    with pytest.raises(NothingToFetchError):
        await guarded.fetch(99, 5)
    assert pull.fetches == 1
    assert len(await guarded.fetch(100, 5)) == 1


async def test_the_built_in_timeout_becomes_the_one_that_the_loop_expects() -> None:
    with pytest.raises(NothingToFetchError):
        await GuardedPull(_ScriptedPull(TimeoutError())).fetch(100, 0.0001)


async def test_a_closed_connection_does_not_let_the_loop_spin() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await GuardedPull(_ScriptedPull(ConnectionClosedError())).fetch(100, 5)
