"""The operations of a front, from the document that it serves itself."""

from dataclasses import dataclass
from typing import Any

import httpx

UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    parameters: tuple[str, ...]
    has_body: bool

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def address(self, **ids: str) -> str:
        """Every id that is not given is a made-up one."""
        path = self.path
        for parameter in self.parameters:
            made_up = "1" if parameter == "n" else UNKNOWN_ID
            path = path.replace(f"{{{parameter}}}", ids.get(parameter, made_up))
        return path


async def operations_of(client: httpx.AsyncClient) -> list[Operation]:
    document = (await client.get("/api/v1/openapi.json")).json()
    return [
        _operation(method, path, content)
        for path, methods in document["paths"].items()
        for method, content in methods.items()
        if method in _METHODS
    ]


def _operation(method: str, path: str, content: dict[str, Any]) -> Operation:
    names = tuple(one["name"] for one in content.get("parameters", ()) if one["in"] == "path")
    return Operation(method.upper(), path, names, "requestBody" in content)
