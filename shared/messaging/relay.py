"""Sends outbox rows to JetStream. It never deletes one: the worker does, together with the effect."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta

from nats.js.errors import NoStreamResponseError
from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from shared.database.driver import driver_connection
from shared.database.listener import WakeSignal
from shared.messaging.bus import Bus, PublishDeniedError
from shared.messaging.envelope import with_message_id
from shared.messaging.message_spans import publish_span
from shared.messaging.outbox import OUTBOX_CHANNEL, ClaimedEvent, claim, postpone
from shared.messaging.relay_metrics import Fate, RelayMetrics

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RelayPolicy:
    """At most two batches are under way at once.

    `retry_after` must exceed a healthy worker's lag: a row still there after it is sent again.
    """

    batch_size: int = 100
    poll_every: timedelta = timedelta(seconds=1)
    retry_after: timedelta = timedelta(seconds=30)
    retry_at_most: timedelta = timedelta(minutes=10)
    retry_unsent_after: timedelta = timedelta(seconds=1)


class OutboxRelay:
    """A task of each front. Several relays share the work through row locks."""

    def __init__(self, engine: AsyncEngine, bus: Bus, policy: RelayPolicy, metrics: RelayMetrics | None = None) -> None:
        self._engine = engine
        self._bus = bus
        self._policy = policy
        self._metrics = metrics or RelayMetrics(CollectorRegistry())
        self._wake = WakeSignal(engine.url.render_as_string(hide_password=False), OUTBOX_CHANNEL)

    async def run(self) -> None:
        """Send until cancelled. A fault of the database or the broker only means a later attempt."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._wake.run(), name="outbox-listen")
            tasks.create_task(self._send_forever(), name="outbox-send")

    async def send_backlog(self) -> int:
        """Send until nothing is due; while much is, one batch is claimed as another one is sent. Returns how many."""
        sent = await self.send_due()
        if sent < self._policy.batch_size:
            return sent
        async with asyncio.TaskGroup() as tasks:
            halves = [tasks.create_task(self._send_batches()) for _ in range(2)]
        return sent + sum(half.result() for half in halves)

    async def _send_batches(self) -> int:
        total = 0
        while True:
            sent = await self.send_due()
            total += sent
            if sent < self._policy.batch_size:
                return total

    async def send_due(self) -> int:
        """Send one batch of due rows; returns how many were sent."""
        if not self._bus.connected:
            return 0
        policy = self._policy
        async with driver_connection(self._engine) as connection:
            claimed = await claim(
                connection,
                limit=policy.batch_size,
                retry_after=policy.retry_after,
                retry_at_most=policy.retry_at_most,
            )
        fates = await asyncio.gather(*(self._publish(event) for event in claimed))
        self._metrics.sent(claimed, fates)
        unsent = [event.event_id for event, fate in zip(claimed, fates, strict=True) if fate != "sent"]
        if "no_stream" in fates:
            await self._provision()
        if unsent:
            async with self._engine.begin() as connection:
                await postpone(connection, unsent, delay=policy.retry_unsent_after)
            logger.warning("outbox_unsent", extra={"count": len(unsent)})
        return len(claimed) - len(unsent)

    async def _publish(self, event: ClaimedEvent) -> Fate:
        with publish_span(event) as opened:
            fate = await self._send(event, opened.headers())
            if fate != "sent":
                opened.failed(fate)
        return fate

    async def _send(self, event: ClaimedEvent, trace_headers: dict[str, str]) -> Fate:
        try:
            headers = with_message_id({**event.headers, **trace_headers}, event.event_id, event.epoch)
            await self._bus.publish(event.subject, event.payload, stream=event.stream, headers=headers)
        except NoStreamResponseError:
            return "no_stream"
        except PublishDeniedError:
            logger.error("publish_denied", extra={"subject": event.subject})
            return "denied"
        except Exception as fault:  # noqa: BLE001 (the row stays, so any fault is only a delay)
            logger.warning("publish_failed", extra={"subject": event.subject, "error": type(fault).__name__})
            return "failed"
        return "sent"

    async def _provision(self) -> None:
        try:
            await self._bus.provision()
        except Exception as fault:  # noqa: BLE001 (tried again with the next batch)
            logger.warning("provisioning_failed", extra={"error": type(fault).__name__})

    async def _send_forever(self) -> None:
        while True:
            try:
                await self.send_backlog()
            except Exception as fault:  # noqa: BLE001 (the database is away: poll on)
                logger.warning("relay_fault", extra={"error": type(fault).__name__})
                self._metrics.failed(fault)
            await self._wake.wait(self._policy.poll_every.total_seconds())
