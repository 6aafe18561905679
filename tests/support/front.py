"""The real front on a real socket, and a client that speaks to it as a person would."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from services.chat_api.domain.judge import Judge
from services.chat_api.domain.model_call import ModelClient
from services.chat_api.main import create_app
from services.chat_api.settings import ChatApiSettings
from tests.support.http_server import serving
from tests.support.stub_knowledge_store import STORE_TOKEN


@dataclass(slots=True)
class Answer:
    """A finished stream, part by part."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [part for part in self.parts if part["type"] == kind]

    @property
    def text(self) -> str:
        return "".join(part["delta"] for part in self.of("text-delta"))

    @property
    def message_id(self) -> str:
        return str(self.of("start")[0]["messageId"])

    @property
    def conversation_id(self) -> str:
        return str(self.of("start")[0]["messageMetadata"]["conversation_id"])

    @property
    def outcome(self) -> str | None:
        metadata = self.of("message-metadata")
        return metadata[0]["messageMetadata"]["outcome"] if metadata else None

    @property
    def citations(self) -> list[dict[str, Any]]:
        return [part["data"] for part in self.of("data-citation")]

    @property
    def hint(self) -> dict[str, Any] | None:
        hints = self.of("data-hint")
        return hints[0]["data"] if hints else None

    @property
    def error_code(self) -> str | None:
        errors = self.of("data-error")
        return errors[0]["data"]["code"] if errors else None


class Person:
    """A signed-in person."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def ask(self, message: str, **more: Any) -> Answer:
        """Ask and read the whole stream. A refusal before the first byte raises httpx.HTTPStatusError."""
        answer = Answer()
        async with self.asking(message, **more) as parts:
            async for part in parts:
                answer.parts.append(part)
        answer.done = True
        return answer

    @asynccontextmanager
    async def asking(self, message: str, **more: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """The parts as they arrive; leaving closes the connection."""
        body = {"message": message, **more}
        async with self.client.stream("POST", "/api/v1/chat", json=body) as response:
            if response.is_error:
                await response.aread()
            response.raise_for_status()
            yield _parts(response)


async def _parts(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line[6:])


async def make_api_key(person: Person) -> str:
    response = await person.client.post("/api/v1/api-keys", json={"name": "client", "scopes": ["chat", "models"]})
    response.raise_for_status()
    secret: str = response.json()["secret"]
    return secret


@dataclass(slots=True)
class RunningFront:
    url: str

    @asynccontextmanager
    async def person(self, user_id: str = "anna") -> AsyncIterator[Person]:
        async with self.anybody() as client:
            response = await client.post("/api/v1/session", json={"user_id": user_id})
            response.raise_for_status()
            yield Person(client)

    @asynccontextmanager
    async def anybody(self) -> AsyncIterator[httpx.AsyncClient]:
        async with httpx.AsyncClient(base_url=self.url, timeout=30) as client:
            yield client


def make_front_settings(
    database_url: str, nats_url: str, redis_url: str, knowledge_url: str, **more: Any
) -> ChatApiSettings:
    return ChatApiSettings.model_validate(
        {
            "database_url": database_url,
            "nats_url": nats_url,
            "redis_url": redis_url,
            "knowledge_url": knowledge_url,
            "knowledge_token": STORE_TOKEN,
            "knowledge_fresh_for": 0,
            "canary_every": 0,
            "turns_per_minute": 0,
            "concurrent_streams": 0,
            **more,
        }
    )


@asynccontextmanager
async def running_front(
    settings: ChatApiSettings, model: ModelClient | None = None, judge: Judge | None = None
) -> AsyncIterator[RunningFront]:
    async with serving(create_app(settings, model=model, judge=judge)) as url:
        yield RunningFront(url)
