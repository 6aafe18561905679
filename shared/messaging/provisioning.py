"""Streams and consumers, created where missing and never silently rewritten."""

import logging
from collections.abc import Collection

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, DiscardPolicy, RetentionPolicy, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from shared.events.streams import ALL_STREAMS, STREAMS, StreamSpec
from shared.settings import WorkerSettings

logger = logging.getLogger(__name__)


def _config_of(spec: StreamSpec, replicas: int) -> StreamConfig:
    return StreamConfig(
        name=spec.name,
        subjects=list(spec.subjects),
        retention=RetentionPolicy.LIMITS,
        discard=DiscardPolicy.OLD,
        max_age=spec.max_age.total_seconds(),
        max_bytes=spec.max_bytes,
        num_replicas=replicas,
        duplicate_window=spec.duplicate_window.total_seconds(),
    )


async def ensure_streams(
    jetstream: JetStreamContext, names: Collection[str] = ALL_STREAMS, *, replicas: int = 1
) -> None:
    """Create each missing stream of these on so many servers; an existing one is left as an operator made it."""
    for spec in (spec for spec in STREAMS if spec.name in names):
        try:
            await jetstream.stream_info(spec.name)
        except NotFoundError:
            try:
                await jetstream.add_stream(_config_of(spec, replicas))
                logger.info("stream_created", extra={"stream": spec.name})
            except BadRequestError:
                # Another process created it in between; if it did not, the next publish says so.
                await jetstream.stream_info(spec.name)


def consumer_config(durable: str, subjects: tuple[str, ...], settings: WorkerSettings) -> ConsumerConfig:
    """A pull consumer that sees everything from the start. No `backoff`: its first value would replace `ack_wait`."""
    return ConsumerConfig(
        durable_name=durable,
        filter_subjects=list(subjects),
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=settings.ack_wait.total_seconds(),
        max_deliver=settings.max_deliver,
        max_ack_pending=10_000,
    )


async def ensure_consumer(jetstream: JetStreamContext, stream: str, config: ConsumerConfig) -> None:
    """Create the consumer, or give it the subjects that this version takes: a new event must reach an old consumer."""
    durable = config.durable_name or ""
    try:
        found = await jetstream.consumer_info(stream, durable)
    except NotFoundError:
        await jetstream.add_consumer(stream, config)
        logger.info("consumer_created", extra={"stream": stream, "consumer": durable})
        return
    if set(found.config.filter_subjects or ()) != set(config.filter_subjects or ()):
        await jetstream.add_consumer(stream, config)
        logger.warning("consumer_subjects_changed", extra={"stream": stream, "consumer": durable})
