"""Servers with both workers, and pullers that stand beside them. What is measured has a core of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from benchmarks.mesh.bus_admin import BusAdmin, bus_admin
from benchmarks.mesh.ledger import Ledger, open_ledger
from benchmarks.turn.processes import Child
from benchmarks.turn.seeding import make_conversations
from benchmarks.turn.stage import Setting, open_setting

_MEASURED = ("signal_worker", "trace_writer", "bare_pull", "one_row", "sending")
_CONVERSATIONS = 200


@dataclass(frozen=True, slots=True)
class MeshStage:
    setting: Setting
    bus: BusAdmin
    ledger: Ledger
    conversations: list[UUID]

    @property
    def nats_url(self) -> str:
        return self.setting.servers.nats.url

    @property
    def database_url(self) -> str:
        return self.setting.servers.postgres.url

    def start_worker(self, name: str) -> Child:
        port = {f"ACHILLES_{name.upper()}_PORT": "{port}"}
        return self.setting.start_service(f"services.{name}", ACHILLES_FETCH_WAIT="1", **port)

    def start(self, module: str, *arguments: str) -> Child:
        return self.setting.start(f"benchmarks.mesh.{module}", *arguments)


@asynccontextmanager
async def open_mesh_stage() -> AsyncIterator[MeshStage]:
    async with (
        open_setting(_MEASURED) as setting,
        bus_admin(setting.servers.nats.url) as bus,
        open_ledger(setting.servers.postgres.url) as ledger,
    ):
        conversations = await make_conversations(setting.servers.postgres.url, _CONVERSATIONS, messages=0)
        yield MeshStage(setting, bus, ledger, conversations)
