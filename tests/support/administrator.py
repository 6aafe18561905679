"""An administrator who reads a setting and changes it, as a page or a script would."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.support.front import RunningFront


class Administrator:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.client.get(f"/api/v1/admin{path}", params=query)

    async def send(self, method: str, path: str, body: Any = None, *, if_match: str | None = "*") -> httpx.Response:
        headers = {} if if_match is None else {"if-match": if_match}
        return await self.client.request(method, f"/api/v1/admin{path}", json=body, headers=headers)

    async def allow_models(self, default: str, *others: str) -> None:
        body = {"default": default, "allowed": [default, *others]}
        (await self.send("PUT", "/models", body)).raise_for_status()

    async def switch(self, tool: str, *, on: bool) -> None:
        (await self.send("PUT", f"/tools/{tool}", {"enabled": on})).raise_for_status()

    async def write_prompt(self, text: str, note: str = "") -> str:
        """Returns the id."""
        response = await self.send("POST", "/prompts", {"text": text, "note": note}, if_match=None)
        response.raise_for_status()
        return str(response.json()["id"])

    async def activate(self, prompt_id: str) -> None:
        (await self.send("POST", f"/prompts/{prompt_id}/activate")).raise_for_status()


@asynccontextmanager
async def administrator(front: RunningFront) -> AsyncIterator[Administrator]:
    async with front.person("olga") as person:
        yield Administrator(person.client)
