"""A front with both workers in one process, and health as an operator reads it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from services.chat_api.domain.model_call import ModelClient
from services.signal_worker.main import create_app as create_signal_worker
from services.signal_worker.settings import SignalWorkerSettings
from services.trace_writer.main import create_app as create_trace_writer
from services.trace_writer.settings import TraceWriterSettings
from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.http_server import serving
from tests.support.waiting import eventually

# Red comes after three canaries that are missing, so short ones show it soon.
CANARY_EVERY = 0.4


@dataclass(frozen=True, slots=True)
class MeshUrls:
    database: str
    nats: str
    redis: str
    knowledge: str


@dataclass(frozen=True, slots=True)
class RunningMesh:
    front: RunningFront
    operator: Person

    async def legs(self) -> dict[str, str]:
        """What health says of each leg."""
        body = (await self.operator.client.get("/api/v1/loop/health")).json()
        return {leg["name"]: leg["reason"] for leg in body["legs"]}

    async def state(self) -> str:
        state: str = (await self.operator.client.get("/api/v1/loop/health")).json()["state"]
        return state

    async def wait_until_green(self) -> None:
        await eventually(self.state, until=lambda state: state == "green", within=60)

    async def wait_until_red(self, leg: str, *, beside: str | None = None) -> None:
        """Until the leg says that its canaries do not arrive, while the leg `beside` works."""
        wanted = {leg: "arrives_late", **({beside: "works"} if beside else {})}
        await eventually(self.legs, until=lambda legs: wanted.items() <= legs.items(), within=60)


def worker_settings(urls: MeshUrls, **more: Any) -> dict[str, Any]:
    return {"database_url": urls.database, "nats_url": urls.nats, "consumer_check_every": 1, "fetch_wait": 1, **more}


@asynccontextmanager
async def running_mesh(urls: MeshUrls, model: ModelClient, **front_settings: Any) -> AsyncIterator[RunningMesh]:
    worker = worker_settings(urls)
    settings = make_front_settings(
        urls.database, urls.nats, urls.redis, urls.knowledge, **{"outbox_retry_after": 1, **front_settings}
    )
    async with AsyncExitStack() as stack:
        front = await stack.enter_async_context(running_front(settings, model))
        for app in (
            create_signal_worker(SignalWorkerSettings.model_validate(worker)),
            create_trace_writer(TraceWriterSettings.model_validate(worker)),
        ):
            await stack.enter_async_context(serving(app))
        operator = await stack.enter_async_context(front.person("olga"))
        yield RunningMesh(front, operator)
