"""Separate users of the bus, each with its own rights."""

import asyncio
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client

from shared.embedded.data_folder import DataFolder
from shared.embedded.nats import FULL_USER, EmbeddedNats, NatsUser

pytestmark = [pytest.mark.integration, pytest.mark.p1]


async def test_a_publisher_may_publish_its_subjects_and_read_nothing(data_dir: Path) -> None:
    server = EmbeddedNats(DataFolder.prepared(data_dir), (FULL_USER, NatsUser("relay", ("facts.>",), ())))
    await server.start()
    refused: asyncio.Queue[str] = asyncio.Queue()

    async def note(fault: Exception) -> None:
        refused.put_nowait(str(fault).lower())

    try:
        reader: Client = await nats.connect(server.url)
        facts = await reader.subscribe("facts.new")
        others = await reader.subscribe("other")
        await reader.flush()
        relay: Client = await nats.connect(server.user_url("relay"), error_cb=note)
        await relay.publish("facts.new", b"1")
        await relay.publish("other", b"2")
        await relay.subscribe("facts.>")
        await relay.flush()

        assert (await facts.next_msg(timeout=5)).data == b"1"
        assert {"publish" in await asyncio.wait_for(refused.get(), 5) for _ in range(2)} == {True, False}
        assert others.pending_msgs == 0
        await relay.close()
        await reader.close()
    finally:
        await server.stop()
