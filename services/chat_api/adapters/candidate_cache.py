"""Search results by standalone query, identity and knowledge version, in Redis or Valkey."""

import asyncio
import hashlib
import logging
import time
from datetime import timedelta

from pydantic import BaseModel, ValidationError
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from shared.identity import Identity
from shared.knowledge_contract import SearchResponse

logger = logging.getLogger(__name__)
_PREFIX = "achilles:candidates:"
_TIMEOUT_SECONDS = 0.2


class CacheKey(BaseModel):
    """Everything that must be equal for a result to be reused. The value carries it and is checked on read."""

    query: str
    identity: Identity | None
    store_id: str
    knowledge_version: int
    top_k: int

    @property
    def digest(self) -> str:
        return _PREFIX + hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class _Entry(BaseModel):
    key: CacheKey
    response: SearchResponse


class CandidateCache:
    """A cache that is down or slow costs at most its short timeout once, then it is left alone for a while."""

    def __init__(self, url: str, *, expire_after: timedelta, pause_after_fault: timedelta) -> None:
        self._redis = Redis.from_url(
            url,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        self._expire_seconds = int(expire_after.total_seconds())
        self._pause_seconds = pause_after_fault.total_seconds()
        self._closed_until = 0.0

    async def close(self) -> None:
        await self._redis.aclose()

    async def get(self, key: CacheKey) -> SearchResponse | None:
        """None for a miss, for a cache that is away, and for a value that is not the one asked for."""
        if time.monotonic() < self._closed_until:
            return None
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                value = await self._redis.get(key.digest)
            entry = _Entry.model_validate_json(value) if value else None
        except ValidationError:
            logger.warning("cache_value_unreadable")
            return None
        except Exception as fault:  # noqa: BLE001 (the cache must never fail a turn)
            self._pause(fault)
            return None
        return entry.response if entry and entry.key == key else None

    async def put(self, key: CacheKey, response: SearchResponse) -> None:
        if time.monotonic() < self._closed_until:
            return
        value = _Entry(key=key, response=response).model_dump_json()
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                await self._redis.set(key.digest, value, ex=self._expire_seconds)
        except Exception as fault:  # noqa: BLE001 (the cache must never fail a turn)
            self._pause(fault)

    def _pause(self, fault: Exception) -> None:
        self._closed_until = time.monotonic() + self._pause_seconds
        logger.warning("cache_paused", extra={"error": type(fault).__name__})
