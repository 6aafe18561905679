"""Access signals, for the Knowledge Store and nobody else."""

import hmac
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request

from services.chat_api.http.authentication import AnyFront, guard
from services.chat_api.http.identifiers import page_request
from services.chat_api.http.problems import StoreTokenRequiredError
from services.chat_api.storage.keyset import PageRequest
from shared.access_signals_contract import ACCESS_SIGNALS_PATH, AccessSignalList

router = APIRouter(tags=["access signals"])


@guard
def require_store_token(request: Request, front: AnyFront) -> None:
    """Raises StoreTokenRequiredError, also where no token is configured: then nobody may read."""
    expected = front.store_token.get_secret_value().encode()
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if not expected or scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), expected):
        raise StoreTokenRequiredError


def oldest_first(
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    order: Annotated[Literal["asc", "desc"], Query()] = "asc",
    after: Annotated[str | None, Query()] = None,
    before: Annotated[str | None, Query()] = None,
) -> PageRequest:
    """Raises BadCursorError."""
    return page_request(limit, order, after, before)


@router.get(ACCESS_SIGNALS_PATH, dependencies=[Depends(require_store_token)])
async def list_access_signals(front: AnyFront, page: Annotated[PageRequest, Depends(oldest_first)]) -> AccessSignalList:
    """What was cited and opened, oldest first. Wants the Knowledge Store's service token as a bearer token.

    Read on with `after` until `has_more` is false. A cursor whose entry was deleted is a 400: begin anew.
    """
    found = await front.read_access_signals.list(page)
    return AccessSignalList(
        data=found.items,
        first_id=found.items[0].id if found.items else None,
        last_id=found.items[-1].id if found.items else None,
        has_more=found.has_more,
    )
