"""The front's list of access signals over HTTP."""

from uuid import UUID

import httpx

from services.knowledge_store.domain.errors import BookmarkLostError
from shared.access_signals_contract import ACCESS_SIGNALS_PATH, AccessSignalList

_PAGE = 100
_SECONDS = 10.0


class AccessSignalsClient:
    def __init__(self, front_url: str, token: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=front_url.rstrip("/"), headers={"authorization": f"Bearer {token}"}, timeout=_SECONDS
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def read_after(self, event_id: UUID | None) -> AccessSignalList:
        """Raises BookmarkLostError, httpx.HTTPError, or ValidationError for an answer that is none."""
        after = {} if event_id is None else {"after": str(event_id)}
        response = await self._client.get(ACCESS_SIGNALS_PATH, params={"limit": _PAGE, "order": "asc", **after})
        if response.status_code == httpx.codes.BAD_REQUEST and event_id is not None:
            raise BookmarkLostError
        response.raise_for_status()
        return AccessSignalList.model_validate_json(response.content)
