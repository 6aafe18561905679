"""The announcement on NATS JetStream."""

from collections.abc import Callable

from nats.js import JetStreamContext
from nats.js.errors import NoStreamResponseError

from shared.events.knowledge import KnowledgeChanged
from shared.messaging.envelope import body_of, headers_of, with_message_id
from shared.messaging.provisioning import ensure_streams

SOURCE = "knowledge_store"


class NatsAnnouncer:
    """`jetstream` gives the current context, or raises while there is no connection."""

    def __init__(self, jetstream: Callable[[], JetStreamContext], replicas: int = 1) -> None:
        self._jetstream = jetstream
        self._replicas = replicas

    async def announce(self, event: KnowledgeChanged) -> None:
        jetstream = self._jetstream()
        try:
            await self._publish(jetstream, event)
        except NoStreamResponseError:
            # The broker came back without its data: the stream is made again before the next attempt.
            await ensure_streams(jetstream, (event.stream,), replicas=self._replicas)
            await self._publish(jetstream, event)

    async def _publish(self, jetstream: JetStreamContext, event: KnowledgeChanged) -> None:
        headers = with_message_id(headers_of(event, source=SOURCE), event.event_id, epoch=0)
        await jetstream.publish(event.subject, body_of(event), stream=event.stream, headers=headers)
