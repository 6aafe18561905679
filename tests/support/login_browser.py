"""A browser's part in a login: it follows navigations, keeps cookies for each host, and sends no others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx


class Browser:
    """`client` is its cookies at the front; the issuer of the tests needs none."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    @classmethod
    @asynccontextmanager
    async def at(cls, url: str) -> AsyncIterator["Browser"]:
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            yield cls(client)

    async def to_issuer(self, return_to: str = "/") -> str:
        """Where the front sends the browser to."""
        response = await self.client.get("/api/v1/session/login", params={"return_to": return_to})
        assert response.status_code == 303, response.text
        return str(response.headers["location"])

    async def through_issuer(self, address: str) -> str:
        """Where the issuer sends it back to."""
        async with httpx.AsyncClient() as elsewhere:
            response = await elsewhere.get(address)
        assert response.status_code == 302, response.text
        return str(response.headers["location"])

    async def come_back(self, address: str) -> httpx.Response:
        """The front is reached under its public address there, and under its own here."""
        parts = urlsplit(address)
        return await self.client.get(f"{parts.path}?{parts.query}", headers={"sec-fetch-site": "cross-site"})

    async def sign_in(self, return_to: str = "/") -> httpx.Response:
        return await self.come_back(await self.through_issuer(await self.to_issuer(return_to)))
