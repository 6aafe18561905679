"""What this front knows of the store: empty or not, and at which version."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from services.chat_api.adapters.knowledge_client import KnowledgeClient
from shared.events import KnowledgeChanged
from shared.knowledge_contract import StoreStatus

logger = logging.getLogger(__name__)
Announce = Callable[[KnowledgeChanged], Awaitable[None]]


class KnowledgeState:
    """Learns from announcements and from the store itself. What was learned too long ago is read again."""

    def __init__(
        self, client: KnowledgeClient, announce: Announce, *, fresh_for: timedelta, now: Callable[[], datetime]
    ) -> None:
        self._client = client
        self._announce = announce
        self._fresh_seconds = fresh_for.total_seconds()
        self._now = now
        self._status: StoreStatus | None = None
        self._refreshing = asyncio.Lock()
        self._learned_at = float("-inf")

    async def current(self) -> StoreStatus:
        """Raises KnowledgeUnavailableError when the store cannot be asked and nothing fresh is known."""
        async with self._refreshing:
            if self._status is None or time.monotonic() - self._learned_at > self._fresh_seconds:
                return await self._learn(await self._client.status())
            return self._status

    def note(self, store_id: str, knowledge_version: int) -> None:
        """A version seen in an answer of the store. If it is not the known one, the next question reads it again."""
        known = self._status
        if known and (known.store_id, known.knowledge_version) != (store_id, knowledge_version):
            self._learned_at = float("-inf")

    async def on_announcement(self, body: bytes) -> None:
        """A change announced on the bus. Older than what is known, or of another store than ours: ignored."""
        change = KnowledgeChanged.model_validate_json(body)
        known = self._status
        if known is None or known.store_id != change.store_id or known.knowledge_version >= change.knowledge_version:
            return
        self._status = StoreStatus(
            store_id=change.store_id, is_empty=change.is_empty, knowledge_version=change.knowledge_version
        )
        self._learned_at = time.monotonic()

    async def _learn(self, status: StoreStatus) -> StoreStatus:
        before = self._status
        self._learned_at = time.monotonic()
        if before and before.store_id == status.store_id and before.knowledge_version > status.knowledge_version:
            # An answer that was under way while something newer was announced.
            return before
        self._status = status
        flipped = before is None or (before.store_id, before.is_empty) != (status.store_id, status.is_empty)
        if flipped:
            await self._tell_others(status)
        return status

    async def _tell_others(self, status: StoreStatus) -> None:
        change = KnowledgeChanged(
            occurred_at=self._now(),
            store_id=status.store_id,
            knowledge_version=status.knowledge_version,
            is_empty=status.is_empty,
        )
        try:
            await self._announce(change)
        except Exception:
            logger.exception("knowledge_change_not_announced")
