"""The ceiling of the bus, in a process of its own: nats-py pulls and acknowledges, and nothing else."""

import asyncio
import contextlib
import sys

import nats


async def main(url: str, stream: str, durable: str, batch: int) -> None:
    client = await nats.connect(url, name=durable)
    pull = await client.jetstream().pull_subscribe_bind(consumer=durable, stream=stream)
    while True:
        # Nats-py's own timeout is one of these, and with hardly any time left it raises the built-in one.
        with contextlib.suppress(TimeoutError):
            for message in await pull.fetch(batch, timeout=1):
                await message.ack()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
