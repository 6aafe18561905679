"""A durable pull consumer over FastStream that comes back by itself when the broker, or the consumer, is gone."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from faststream import AckPolicy
from faststream.message import StreamMessage
from faststream.nats import JStream, NatsBroker, PullSub
from faststream.nats.annotations import NatsMessage
from faststream.nats.subscriber.usecases import BatchPullStreamSubscriber
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from prometheus_client import CollectorRegistry

from shared.events import Event
from shared.health import NotReadyError
from shared.messaging.bus import connect_nats, error_logger, inbox_prefix
from shared.messaging.consumer_metrics import ConsumerMetrics
from shared.messaging.delivery import Delivery, Outcome
from shared.messaging.guarded_pull import GuardedPull, Pull
from shared.messaging.message_spans import BatchTimes, record_applied
from shared.messaging.provisioning import consumer_config, ensure_consumer, ensure_streams
from shared.settings import WorkerSettings

logger = logging.getLogger(__name__)
_REOPEN_SECONDS = 1.0
_CLOSE_SECONDS = 2.0
_FINISH_SECONDS = 10.0
_RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """A durable name on one stream, and the event classes that it takes from there."""

    durable: str
    stream: str
    events: tuple[type[Event], ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(event.subject for event in self.events)


class ConsumerLost(Exception):  # noqa: N818 (a turn of events, not a defect)
    """The connection or the consumer is gone; everything is opened anew."""


class BatchDelivery(Protocol):
    """What is done with a batch: `DeliveryService`, or a consumer's own that keeps its effects elsewhere.

    Both return after the commit, and raise when nothing was written and the batch is to be tried again.
    """

    async def deliver(self, deliveries: Sequence[Delivery]) -> list[Outcome]: ...

    async def give_up(self, deliveries: Sequence[Delivery]) -> list[Outcome]: ...


class DurableConsumer:
    """Runs until cancelled. `check` tells whether messages are being taken."""

    def __init__(
        self,
        spec: ConsumerSpec,
        service: BatchDelivery,
        settings: WorkerSettings,
        metrics: ConsumerMetrics | None = None,
    ) -> None:
        self._spec = spec
        self._service = service
        self._settings = settings
        self._metrics = metrics or ConsumerMetrics(spec.durable, CollectorRegistry())
        self._consuming = False

    async def check(self) -> None:
        if not self._consuming:
            raise NotReadyError("not consuming: NATS or its consumer is away")

    async def run(self) -> None:
        while True:
            try:
                await self._consume()
            except Exception as fault:  # noqa: BLE001 (whatever ended it, opening anew is the answer)
                logger.warning("consumer_lost", extra={"consumer": self._spec.durable, "error": type(fault).__name__})
                self._metrics.lost(fault)
            self._consuming = False
            await asyncio.sleep(_REOPEN_SECONDS)

    async def _consume(self) -> None:
        admin = await connect_nats(self._settings.bus_url, name=f"{self._spec.durable}-admin")
        broker, subscriber = self._make_broker()
        client = await broker.connect()
        try:
            jetstream = admin.jetstream(timeout=2)
            await self._provision(jetstream)
            await broker.start()
            # The pull loop reads this attribute anew for each fetch; its task has not run yet.
            pull = GuardedPull(cast("Pull", subscriber.subscription), self._metrics.pull_failed)
            subscriber.subscription = cast("Any", pull)
            self._consuming = True
            self._metrics.consuming(True)
            logger.info("consuming", extra={"consumer": self._spec.durable})
            await self._watch(jetstream, client)
        finally:
            self._consuming = False
            self._metrics.consuming(False)
            # The batch in hand is written and acknowledged first; one that cannot be comes again.
            await _quietly(subscriber.stop(), _FINISH_SECONDS + _CLOSE_SECONDS)
            await _quietly(broker.stop())
            # Stopping drains, which fails while the client reconnects, and would leave its connection behind.
            await _quietly(client.close())
            await _quietly(admin.close())

    async def _provision(self, jetstream: JetStreamContext) -> None:
        await ensure_streams(jetstream, (self._spec.stream,), replicas=self._settings.nats_replicas)
        config = consumer_config(self._spec.durable, self._spec.subjects, self._settings)
        await ensure_consumer(jetstream, self._spec.stream, config)

    async def _watch(self, jetstream: JetStreamContext, client: Client) -> None:
        """The pull loop swallows a deleted consumer and a closed connection in silence, so both are looked for."""
        while True:
            await asyncio.sleep(self._settings.consumer_check_every.total_seconds())
            # FastStream raises a refused password in nats-py's error callback, and so ends the task that reconnects.
            if not client.is_connected:
                raise ConsumerLost
            try:
                await jetstream.consumer_info(self._spec.stream, self._spec.durable)
            except Exception as fault:
                raise ConsumerLost from fault

    def _make_broker(self) -> tuple[NatsBroker, BatchPullStreamSubscriber]:
        broker = NatsBroker(
            self._settings.bus_url,
            name=self._spec.durable,
            inbox_prefix=inbox_prefix(self._settings.bus_url),
            connect_timeout=2,
            max_reconnect_attempts=-1,
            reconnect_time_wait=1,
            ping_interval=10,
            max_outstanding_pings=2,
            error_cb=error_logger(),
            graceful_timeout=_FINISH_SECONDS,
            logger=None,
        )
        subscriber = broker.subscriber(
            "",
            stream=JStream(self._spec.stream, declare=False),
            # The library has a prefix of its own here, which this user of the bus may not be allowed to read.
            inbox_prefix=f"{inbox_prefix(self._settings.bus_url)}.".encode(),
            durable=self._spec.durable,
            pull_sub=PullSub(
                batch_size=self._settings.batch_size, timeout=self._settings.fetch_wait.total_seconds(), batch=True
            ),
            config=consumer_config(self._spec.durable, self._spec.subjects, self._settings),
            ack_policy=AckPolicy.MANUAL,
            decoder=_keep_bytes,
        )
        subscriber(self._take)
        return broker, subscriber

    async def _take(self, message: NatsMessage) -> None:
        # A batch subscriber hands over a list where the library's annotation says one message.
        raw = cast("list[Msg]", message.raw_message)
        deliveries = [_delivery_of(one) for one in raw]
        times = BatchTimes()
        outcomes = await self._deliver(raw, deliveries, times)
        for one in raw:
            await one.ack()
        self._metrics.written(outcomes, times.seconds)
        record_applied(self._spec.durable, outcomes, times)

    async def _deliver(self, raw: Sequence[Msg], deliveries: Sequence[Delivery], times: BatchTimes) -> list[Outcome]:
        """PostgreSQL away: retry in place and extend the acknowledgement, instead of handing the batch back."""
        for attempt in itertools.count():
            try:
                times.begin()
                spent = [one for one in deliveries if one.deliveries >= self._settings.max_deliver]
                given_up = await self._service.give_up(spent) if spent else []
                outcomes = await self._service.deliver([one for one in deliveries if one not in spent])
                times.commit()
            except Exception as fault:  # noqa: BLE001 (permanent faults were settled inside; this one is transient)
                logger.warning(
                    "delivery_postponed", extra={"consumer": self._spec.durable, "error": type(fault).__name__}
                )
                self._metrics.postponed(fault)
                await asyncio.sleep(_RETRY_SECONDS[min(attempt, len(_RETRY_SECONDS) - 1)])
                for one in raw:
                    await one.in_progress()
            else:
                return [*given_up, *outcomes]
        raise AssertionError("it is tried until it is done")


async def _quietly(closing: Coroutine[Any, Any, None], seconds: float = _CLOSE_SECONDS) -> None:
    with contextlib.suppress(Exception):
        async with asyncio.timeout(seconds):
            await closing


async def _keep_bytes(message: StreamMessage[list[Msg]]) -> list[bytes]:
    """Messages are validated one by one from their bytes, so that one bad message harms no neighbour."""
    return [one.data for one in message.raw_message]


def _delivery_of(message: Msg) -> Delivery:
    return Delivery(
        subject=message.subject,
        body=message.data,
        headers=dict(message.headers or {}),
        deliveries=message.metadata.num_delivered or 1,
    )
