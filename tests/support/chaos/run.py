"""One run: people use the fronts, faults happen, everything comes to rest, and everything is counted."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg
import nats

from shared.events.streams import SIGNAL_STREAM, TRACE_STREAM
from tests.support.chaos.checker import Violation, find_violations, told
from tests.support.chaos.chronicle import Chronicle
from tests.support.chaos.injector import FaultInjector
from tests.support.chaos.installation import Installation, running_installation
from tests.support.chaos.journal import install_journal, write_poison
from tests.support.chaos.people import ChaosPerson
from tests.support.chaos.plan import Fault

_PEOPLE = ("anna", "hana", "frank", "olga", "anna", "hana")
_REST_WITHIN_SECONDS = 120.0
_FIGURES = {
    "turns": "SELECT count(*) FROM chat.turns",
    "interrupted": "SELECT count(*) FROM chat.turns WHERE outcome = 'interrupted'",
    "failed": "SELECT count(*) FROM chat.turns WHERE outcome = 'failed'",
    "events": "SELECT count(*) FROM chaos.events",
    "claims": "SELECT count(*) FROM chaos.journal WHERE what LIKE 'claimed%'",
    "dead letters": "SELECT count(*) FROM mesh.dead_letters",
}


_WORKED = """
SELECT DISTINCT by FROM chaos.journal WHERE what LIKE 'claimed%' AND by LIKE 'front%' OR what = 'settled'
"""


@dataclass(frozen=True, slots=True)
class Report:
    """`worked` names the processes that sent or applied something; `text` tells every violation with its history."""

    violations: tuple[Violation, ...]
    figures: Mapping[str, int]
    worked: frozenset[str]
    text: str

    def broke(self, rule: str) -> int:
        return sum(violation.rule.startswith(rule) for violation in self.violations)


async def run_chaos(
    seed: int,
    plan: Sequence[Fault],
    *,
    modules: Mapping[str, tuple[str, ...]] | None = None,
    rest_within: float = _REST_WITHIN_SECONDS,
    say: Callable[[str], None] = print,
) -> Report:
    """`modules` replaces the program of a part by a sabotaged one."""
    async with running_installation(modules) as installation:
        async with _connected(installation.servers.postgres.url) as connection:
            await install_journal(connection)
            await write_poison(connection)
        chronicle = Chronicle()
        say(f"seed {seed}: {len(plan)} faults: {'; '.join(str(fault) for fault in plan)}")
        await _people_and_faults(installation, chronicle, seed, plan)
        report = await _count(installation, chronicle, rest_within)
        figures = ", ".join(f"{name} {count}" for name, count in report.figures.items())
        say(f"seed {seed}: {figures}, {time.monotonic() - chronicle.started:.0f} s")
        return report


async def _people_and_faults(
    installation: Installation, chronicle: Chronicle, seed: int, plan: Sequence[Fault]
) -> None:
    enough = asyncio.Event()
    people = [ChaosPerson(name, installation.front_urls, chronicle, f"{seed}:{at}") for at, name in enumerate(_PEOPLE)]
    async with asyncio.TaskGroup() as tasks:
        for person in people:
            tasks.create_task(person.use(enough))
        try:
            await FaultInjector(installation, chronicle, seed).run(plan)
            # And a little more, so that the last fault is followed by use as well.
            await asyncio.sleep(1)
        finally:
            enough.set()


async def _count(installation: Installation, chronicle: Chronicle, within: float) -> Report:
    """At rest nothing is broken any more. What is still broken at the deadline is a violation."""
    async with _connected(installation.servers.postgres.url) as connection:
        deadline = time.monotonic() + within
        while True:
            violations = [*await _unread(installation.servers.nats.url), *await _judged(connection, chronicle)]
            if not violations or time.monotonic() > deadline:
                break
            await asyncio.sleep(1)
        figures = {name: int(await connection.fetchval(query)) for name, query in _FIGURES.items()}
        worked = frozenset(row["by"] for row in await connection.fetch(_WORKED))
        text = await told(connection, chronicle, violations)
    if violations:
        text += "\n" + installation.log_tails()
    return Report(tuple(violations), figures, worked, text)


async def _judged(connection: asyncpg.Connection, chronicle: Chronicle) -> list[Violation]:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        return await find_violations(connection, chronicle)


async def _unread(nats_url: str) -> list[Violation]:
    """Consumers that have not taken everything yet: what is sent twice must have come twice before it is counted."""
    client = await nats.connect(nats_url)
    try:
        jetstream = client.jetstream()
        found = []
        for stream, consumer in ((SIGNAL_STREAM, "signal_worker"), (TRACE_STREAM, "trace_writer")):
            try:
                info = await jetstream.consumer_info(stream, consumer)
                waiting = (info.num_pending or 0) + (info.num_ack_pending or 0)
            except nats.js.errors.NotFoundError:
                waiting = -1
            if waiting:
                found.append(Violation("consumers have taken everything", "", f"{consumer}: {waiting} messages wait"))
        return found
    finally:
        await client.close()


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()
