"""The load: people who ask, one turn after the other, and note when what arrives."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from uuid import UUID

import aiohttp
import msgspec

from benchmarks.turn.answer import QUESTION
from benchmarks.turn.calls import ModelCallTimes
from services.chat_api.http.cookies import SESSION

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn as its asker saw it. Seconds of the monotonic clock."""

    question: str
    sent: float
    first_text: float
    closed: float


def fresh_questions() -> Iterator[str]:
    """Each finds passages that nobody has seen before."""
    return (f"{QUESTION} This is edition {number} of it." for number in _numbers)


def questions() -> Iterator[str]:
    """Each is new, so that no cache answers for the store, but the passages are always the same."""
    return (f"{QUESTION} ({number})" for number in _numbers)


def greetings() -> Iterator[str]:
    return (f"Hello and good morning, number {number}!" for number in _numbers)


class Asker:
    """Asks for the owners of conversations (seeding.py)."""

    def __init__(self, session: aiohttp.ClientSession, upstream_url: str) -> None:
        self._session = session
        self._upstream_url = upstream_url

    async def ask(self, question: str, conversation_id: UUID) -> Asked:
        body = {"message": question, "conversation_id": str(conversation_id)}
        headers = {"cookie": f"{SESSION}={conversation_id}"}
        sent = time.monotonic()
        first_text = closed = 0.0
        outcome = "without an outcome"
        async with self._session.post("/api/v1/chat", json=body, headers=headers) as response:
            response.raise_for_status()
            async for line in response.content:
                if not first_text and b'"text-delta"' in line:
                    first_text = time.monotonic()
                elif b'"message-metadata"' in line:
                    closed = time.monotonic()
                    outcome = msgspec.json.decode(line[6:])["messageMetadata"]["outcome"]
                elif b'"data-error"' in line:
                    outcome = msgspec.json.decode(line[6:])["data"]["code"]
        expected = "conversational" if question.startswith("Hello") else "grounded"
        if outcome != expected:
            raise SystemExit(f"the turn ended {outcome}, not {expected}: nothing is measured")
        return Asked(question, sent, first_text, closed)

    async def ask_all(
        self, asked: Iterator[str], conversations: Sequence[UUID], *, at_a_time: int, within: float = 0.0
    ) -> list[Asked]:
        """One question in each conversation, so many at a time. The first ones are asked at random `within` so many
        seconds: people do not all press the key in the same millisecond, and turns of equal length stay in step."""
        waiting = iter(conversations)
        done: list[Asked] = []
        starts = Random(at_a_time)

        async def ask_on() -> None:
            await asyncio.sleep(starts.uniform(0.0, within))
            for conversation_id in waiting:
                done.append(await self.ask(next(asked), conversation_id))

        await asyncio.gather(*(ask_on() for _ in range(at_a_time)))
        return done

    async def model_calls(self) -> dict[str, list[ModelCallTimes]]:
        """What the scripted model noted since it was last asked, by question."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._upstream_url}/calls") as response:
            noted = msgspec.json.decode(await response.read(), type=list[ModelCallTimes])
        calls: dict[str, list[ModelCallTimes]] = {}
        for call in noted:
            calls.setdefault(call.question, []).append(call)
        return calls


@asynccontextmanager
async def asking(front_url: str, upstream_url: str) -> AsyncIterator[Asker]:
    # Less than the front keeps an idle connection, so that none is used that it just closed.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    timeout = aiohttp.ClientTimeout(total=None, sock_read=120)
    async with aiohttp.ClientSession(front_url, connector=connector, timeout=timeout) as session:
        yield Asker(session, upstream_url)


async def relay_all(floor_url: str, count: int, *, at_a_time: int) -> None:
    """The same stream through the floor."""
    body = {"model": "pace-5", "messages": [{"role": "user", "content": "Hello"}]}
    left = iter(range(count))

    async def relay_on(session: aiohttp.ClientSession) -> None:
        for _ in left:
            async with session.post(f"{floor_url}/relay", json=body) as response:
                response.raise_for_status()
                async for _line in response.content:
                    pass

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(relay_on(session) for _ in range(at_a_time)))
