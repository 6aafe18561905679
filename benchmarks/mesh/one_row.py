"""The usual way, in a process of its own: a FastStream handler that writes one row for each usage event."""

import asyncio
import sys

from faststream import FastStream
from faststream.nats import JStream, NatsBroker, PullSub
from sqlalchemy import insert

from shared.database.engine import make_engine
from shared.database.tables.usage import usage
from shared.events import UsageRecorded


def make_app(nats_url: str, database_url: str, durable: str, batch: int) -> FastStream:
    broker = NatsBroker(nats_url, name=durable, logger=None)
    engine = make_engine(database_url, application_name=durable)

    @broker.subscriber(
        UsageRecorded.subject,
        stream=JStream(UsageRecorded.stream, declare=False),
        durable=durable,
        pull_sub=PullSub(batch_size=batch),
    )
    async def write(event: UsageRecorded) -> None:
        async with engine.begin() as connection:
            await connection.execute(insert(usage).values(event_id=event.event_id, **event.model_dump()))

    return FastStream(broker, logger=None)


if __name__ == "__main__":
    asyncio.run(make_app(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])).run())
