"""Parts of Achilles that lose effects, started in place of the real ones to prove that the checker sees it.

`python -m tests.support.chaos.sabotage SABOTAGE PART`. Nothing in the product leads here.
"""

import asyncio
import sys
from collections.abc import Sequence
from typing import cast

from faststream.nats.annotations import NatsMessage
from nats.aio.msg import Msg
from sqlalchemy import delete

import services.chat_api.main
import services.chat_api.wiring
import services.signal_worker.main
import services.trace_writer.main
from shared.database.tables.mesh import outbox
from shared.messaging import consumer, worker
from shared.messaging.consumer import DurableConsumer
from shared.messaging.delivery import Delivery, DeliveryService, Outcome
from shared.messaging.message_spans import BatchTimes
from shared.messaging.outbox import ClaimedEvent, settle
from shared.messaging.relay import OutboxRelay
from shared.messaging.relay_metrics import Fate

_EFFECT_SECONDS = 0.4


class AcknowledgesFirst(DurableConsumer):
    """Tells the broker that all is written before anything is."""

    async def _take(self, message: NatsMessage) -> None:
        raw = cast("list[Msg]", message.raw_message)
        for one in raw:
            await one.ack()
        await self._deliver(raw, [consumer._delivery_of(one) for one in raw], BatchTimes())


class SlowDelivery(DeliveryService):
    """Leaves time for a kill between the acknowledgement and the effect."""

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        await asyncio.sleep(_EFFECT_SECONDS)
        return await super().deliver(deliveries)


class SettlesFirst(SlowDelivery):
    """Deletes the ledger's rows in a transaction of its own, before the one that holds the effects."""

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[Outcome]:
        async with self._engine.begin() as connection:
            await settle(connection, [one.ledger_id for one in deliveries if one.ledger_id])
        return await super().deliver(deliveries)


class DeletesOnPublish(OutboxRelay):
    """Takes the broker's acknowledgement for the effect, as relays without a ledger do."""

    async def _publish(self, event: ClaimedEvent) -> Fate:
        fate = await super()._publish(event)
        if fate == "sent":
            async with self._engine.begin() as connection:
                await connection.execute(delete(outbox).where(outbox.c.event_id == event.event_id))
        return fate


def acknowledge_early() -> None:
    worker.DurableConsumer = AcknowledgesFirst  # type: ignore[attr-defined]
    worker.DeliveryService = SlowDelivery  # type: ignore[attr-defined]


def settle_early() -> None:
    worker.DurableConsumer = AcknowledgesFirst  # type: ignore[attr-defined]
    worker.DeliveryService = SettlesFirst  # type: ignore[attr-defined]


def delete_on_publish() -> None:
    services.chat_api.wiring.OutboxRelay = DeletesOnPublish  # type: ignore[attr-defined]


_SABOTAGES = {one.__name__: one for one in (acknowledge_early, settle_early, delete_on_publish)}
_PARTS = {
    "front": services.chat_api.main.run,
    "signal_worker": services.signal_worker.main.run,
    "trace_writer": services.trace_writer.main.run,
}


def sabotaged(sabotage: str, *parts: str) -> dict[str, tuple[str, ...]]:
    """To be given to an installation: these parts with that sabotage."""
    return {part: (__name__, sabotage, part) for part in parts}


if __name__ == "__main__":
    _SABOTAGES[sys.argv[1]]()
    _PARTS[sys.argv[2]]()
