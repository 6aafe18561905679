"""The users of the bus, each with the least rights that its work needs (docs/spec/mesh.md, MESH-15).

The first one provisions and is nobody's at run time. A front publishes events and hears of knowledge changes. A worker
reads its own consumer, and may make that consumer and its stream again where they are missing.
"""

from shared.embedded.nats import FULL_USER, NatsUser
from shared.events import KnowledgeChanged
from shared.events.streams import SIGNAL_STREAM, STREAMS, TRACE_STREAM


def front_user(name: str = "chat_api") -> NatsUser:
    published = tuple(subject for spec in STREAMS for subject in spec.subjects)
    return NatsUser(name, publish=published, subscribe=(KnowledgeChanged.subject, _inbox(name)))


def consumer_user(name: str, stream: str, *, announces: tuple[str, ...] = ()) -> NatsUser:
    """A user whose durable consumer has its own name; `announces` are subjects that it also publishes."""
    return NatsUser(name, publish=(*_consumer_rights(name, stream), *announces), subscribe=(_inbox(name),))


def _consumer_rights(durable: str, stream: str) -> tuple[str, ...]:
    return (
        f"$JS.API.STREAM.INFO.{stream}",
        f"$JS.API.STREAM.CREATE.{stream}",
        f"$JS.API.CONSUMER.INFO.{stream}.{durable}",
        f"$JS.API.CONSUMER.CREATE.{stream}.{durable}",
        f"$JS.API.CONSUMER.CREATE.{stream}.{durable}.>",
        f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.{durable}",
        f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}",
        f"$JS.ACK.{stream}.{durable}.>",
    )


def _inbox(name: str) -> str:
    return f"_INBOX.{name}.>"


BUS_USERS: tuple[NatsUser, ...] = (
    FULL_USER,
    front_user(),
    consumer_user("signal_worker", SIGNAL_STREAM),
    consumer_user("trace_writer", TRACE_STREAM),
    consumer_user("knowledge_store", SIGNAL_STREAM, announces=(KnowledgeChanged.subject,)),
)
