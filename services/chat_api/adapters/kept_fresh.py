"""A value of a server that may be away: read again from time to time, and used on while the server is away."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from shared.errors import TransientError

Value = TypeVar("Value")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Freshness:
    fresh_for: timedelta
    at_most_every: timedelta
    stale_for: timedelta


class KeptFresh(Generic[Value]):
    """However many ask at once, there is one reading; and never more than one in `at_most_every`."""

    def __init__(
        self,
        read: Callable[[], Awaitable[Value]],
        freshness: Freshness,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._freshness = freshness
        self._clock = clock
        self._value: Value | None = None
        self._read_at = 0.0
        self._attempted_at: float | None = None
        self._fault: TransientError | None = None
        self._reading: asyncio.Task[None] | None = None

    async def get(self) -> Value:
        """Raises the TransientError of the last reading when nothing is kept, or only what is too old."""
        if self._value is None or self._age() >= self._freshness.fresh_for.total_seconds():
            await self._renew()
        if self._value is None or self._age() >= self._freshness.stale_for.total_seconds():
            raise self._away()
        return self._value

    async def newest(self) -> Value:
        """Read now, unless that was done a moment ago. Raises TransientError if the last reading failed."""
        await self._renew()
        if self._value is None or self._fault is not None:
            raise self._away()
        return self._value

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _renew(self) -> None:
        if self._reading is None and self._may_read():
            self._attempted_at = self._clock()
            self._reading = asyncio.create_task(self._attempt())
        if self._reading is not None:
            # One client that leaves must not end what the others wait for.
            await asyncio.shield(self._reading)

    def _may_read(self) -> bool:
        least = self._freshness.at_most_every.total_seconds()
        return self._attempted_at is None or self._clock() - self._attempted_at >= least

    async def _attempt(self) -> None:
        try:
            value = await self._read()
        except TransientError as fault:
            self._fault = fault
            logger.warning("refresh_failed", extra={"code": fault.code, "detail": fault.detail})
        else:
            self._value, self._read_at, self._fault = value, self._clock(), None
        finally:
            self._reading = None

    def _age(self) -> float:
        return self._clock() - self._read_at

    def _away(self) -> TransientError:
        """A new one each time: one that is raised again and again would gather tracebacks."""
        return type(self._fault)(self._fault.detail) if self._fault else TransientError()
