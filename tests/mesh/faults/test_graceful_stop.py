"""TERM with fifty open answers, and a worker that is told to stop with a batch in its hands."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import nats
import pytest
from nats.js import JetStreamContext

from services.signal_worker.main import create_app
from services.signal_worker.settings import SignalWorkerSettings
from shared.embedded.errors import ProbeFailedError
from shared.embedded.ports import PortBook
from shared.embedded.processes import ManagedProcess, ProcessSpec
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.provisioning import ensure_streams
from tests.support.deployment import PROJECT
from tests.support.events import make_click, publish
from tests.support.front import RunningFront
from tests.support.http_server import serving
from tests.support.openai_server import OpenAiServer, chunk
from tests.support.rows import Rows
from tests.support.stub_knowledge_store import STORE_TOKEN, StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-10")]
_STREAMS = 50
_GRACE = timedelta(seconds=60)
_READY_WITHIN = timedelta(seconds=90)


@asynccontextmanager
async def _front_process(folder: Path, **variables: str) -> AsyncIterator[tuple[ManagedProcess, RunningFront]]:
    port = PortBook(folder / "ports.json").choose("front")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ACHILLES_")},
        **{f"ACHILLES_{name.upper()}": value for name, value in variables.items()},
        "ACHILLES_PORT": str(port),
    }
    command = (sys.executable, "-m", "services.chat_api")
    process = ManagedProcess(
        ProcessSpec("chat_api", command, folder / "front.log", environment=environment, folder=PROJECT)
    )
    front = RunningFront(f"http://127.0.0.1:{port}")
    process.start()
    try:
        await process.wait_ready(lambda: _alive(front), _READY_WITHIN)
        yield process, front
    finally:
        await process.kill()


async def _alive(front: RunningFront) -> None:
    try:
        async with front.anybody() as client:
            (await client.get("/livez")).raise_for_status()
    except httpx.HTTPError as fault:
        raise ProbeFailedError(type(fault).__name__) from None


async def _stream(front: RunningFront, started: asyncio.Semaphore) -> str:
    """The kind of the last part that arrived; `cut` when the connection broke instead."""
    kind = ""
    async with front.person() as anna:
        try:
            async with anna.asking("Tell me a story.") as parts:
                async for part in parts:
                    if part["type"] == "text-delta" and kind != "text-delta":
                        started.release()
                    kind = part["type"]
        except httpx.HTTPError:
            return "cut"
    return kind


async def test_every_open_answer_ends_with_a_closing_event_and_is_stored_as_interrupted(
    database_url: str, nats_url: str, redis_url: str, rows: Rows, store: StubKnowledgeStore, tmp_path: Path
) -> None:
    store.is_empty = True
    async with OpenAiServer().running() as provider:
        for _ in range(_STREAMS):
            provider.script([chunk(content="Once upon a time there was a pump. "), asyncio.Event()])
        async with _front_process(
            tmp_path,
            database_url=database_url,
            nats_url=nats_url,
            redis_url=redis_url,
            knowledge_url=store.url,
            knowledge_token=STORE_TOKEN,
            model_base_url=provider.url,
            model="served-1",
            concurrent_streams="0",
            turns_per_minute="0",
        ) as (process, front):
            started = asyncio.Semaphore(0)
            streams = [asyncio.create_task(_stream(front, started)) for _ in range(_STREAMS)]
            async with asyncio.timeout(90):
                for _ in range(_STREAMS):
                    await started.acquire()
            await process.stop(_GRACE)
            assert process.exit_code != -signal.SIGKILL, "it ended by itself"
            ends = await asyncio.gather(*streams)
    stored = await rows.all("SELECT state, outcome FROM chat.turns")
    assert [(turn["state"], turn["outcome"]) for turn in stored] == [("finished", "interrupted")] * _STREAMS
    kept = "SELECT count(*) FROM chat.messages WHERE role = 'assistant' AND content LIKE 'Once upon a time%'"
    assert await rows.one(kept) == _STREAMS
    assert ends == ["abort"] * _STREAMS, "every client is told that its answer was stopped"


async def test_a_worker_that_is_stopped_finishes_its_batch_and_leaves_nothing_to_be_sent_again(
    database_url: str, nats_url: str, rows: Rows
) -> None:
    client = await nats.connect(nats_url)
    jetstream = client.jetstream()
    await ensure_streams(jetstream)
    settings = SignalWorkerSettings.model_validate({"database_url": database_url, "nats_url": nats_url})
    for number in range(20):
        await publish(jetstream, make_click(f"k{number}"))
    async with Rows.of(database_url) as holder:
        async with holder.transaction():
            await holder.run("LOCK TABLE signals.accesses IN ACCESS EXCLUSIVE MODE")
            stop = asyncio.Event()
            worker = asyncio.create_task(_work_until(stop, settings))
            await eventually(lambda: rows.one("SELECT count(*) FROM pg_locks WHERE NOT granted"))
            handed_over = await _pending(jetstream)
            stop.set()
            done, _ = await asyncio.wait((worker,), timeout=1)
            assert not done, "it waits for its batch, and the batch for the lock"
        await worker
    assert await rows.count("signals.accesses") == handed_over > 0
    assert await _pending(jetstream) == 0, "all that was written is acknowledged"
    await client.close()


async def _work_until(stop: asyncio.Event, settings: SignalWorkerSettings) -> None:
    async with serving(create_app(settings)):
        await stop.wait()


async def _pending(jetstream: JetStreamContext) -> int:
    return (await jetstream.consumer_info(SIGNAL_STREAM, "signal_worker")).num_ack_pending or 0
