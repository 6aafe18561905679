"""Puts a plan of faults into effect, and mends everything afterwards."""

import asyncio
import os
import signal
from collections import defaultdict
from collections.abc import Sequence
from random import Random

import asyncpg

from tests.support.chaos.chronicle import Chronicle
from tests.support.chaos.installation import Installation
from tests.support.chaos.plan import Fault

_PERHAPS_AWAY_SECONDS = 30.0
_SESSIONS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


class FaultInjector:
    """Faults on different targets overlap; those on the same one wait for each other."""

    def __init__(self, installation: Installation, chronicle: Chronicle, seed: int) -> None:
        self._installation = installation
        self._chronicle = chronicle
        self._random = Random(seed)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._down: set[str] = set()

    async def run(self, plan: Sequence[Fault]) -> None:
        """Returns when everything of the plan has happened and is mended."""
        started = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as tasks:
            for fault in plan:
                await asyncio.sleep(max(0.0, started + fault.at - asyncio.get_running_loop().time()))
                self._note_self_ended()
                tasks.create_task(self._happen(fault))
        await self._installation.all_ready()
        self._note_self_ended()
        self._chronicle.note("everything is mended and ready")

    def _note_self_ended(self) -> None:
        for name, service in self._installation.services.items():
            if not service.is_running and name not in self._down:
                self._chronicle.self_ended.append(f"{name} ended by itself: {service.log_tail(5)}")

    async def _happen(self, fault: Fault) -> None:
        async with self._locks[fault.target]:
            self._chronicle.note(f"FAULT {fault}")
            match fault.kind:
                case "kill":
                    await self._kill(fault)
                case "freeze":
                    await self._freeze(fault)
                case "wipe_streams":
                    await self._installation.wipe_streams()
                case "terminate_sessions" | "kill_backend":
                    await self._end_sessions(fault)
                case "cut" | "mute" | "delay":
                    await self._disturb(fault)
            self._chronicle.note(f"mended {fault.kind} {fault.target}")

    async def _kill(self, fault: Fault) -> None:
        service = self._installation.services.get(fault.target)
        if service is None:
            server = self._installation.server(fault.target)
            await server.kill()
            await asyncio.sleep(fault.lasts)
            await server.start()
            return
        self._down.add(fault.target)
        await service.kill()
        await asyncio.sleep(fault.lasts)
        service.start()
        self._down.discard(fault.target)

    async def _freeze(self, fault: Fault) -> None:
        service = self._installation.services.get(fault.target)
        frozen = service or self._installation.server(fault.target)
        frozen.freeze()
        try:
            await asyncio.sleep(fault.lasts)
        finally:
            frozen.thaw()

    async def _disturb(self, fault: Fault) -> None:
        proxy = self._installation.proxies[fault.target]
        if fault.kind == "cut":
            proxy.cut()
        elif fault.kind == "mute":
            proxy.mute()
        else:
            proxy.delay(self._random.uniform(0.02, 0.3))
        await asyncio.sleep(fault.lasts)
        proxy.mend()

    async def _end_sessions(self, fault: Fault) -> None:
        """Half of the sessions by their own server's hand, or one with kill -9, which restarts the whole server."""
        try:
            connection = await asyncpg.connect(self._installation.servers.postgres.url, timeout=_PERHAPS_AWAY_SECONDS)
        except (OSError, asyncpg.PostgresError):
            self._chronicle.note("PostgreSQL was away already")
            return
        try:
            sessions = [row["pid"] for row in await connection.fetch(_SESSIONS)]
            chosen = [pid for pid in sessions if self._random.random() < 0.5]
            if fault.kind == "terminate_sessions":
                await connection.fetch("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", chosen)
            elif chosen:
                os.kill(chosen[0], signal.SIGKILL)
        finally:
            connection.terminate()
