"""The Knowledge Store contract (docs/spec/overview.md): any store that speaks it replaces the embedded one.

`POST /v1/search` takes a `SearchRequest` and answers a `SearchResponse`; `GET /v1/status` answers a `StoreStatus`.
Both want `Authorization: Bearer <service token>`: the caller's identity is trusted, so only a trusted front may call.
"""

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from shared.identity import Identity

# The name of a store's durable consumer of access signals.
STORE_CONSUMER = "knowledge_store"

SearchOutcome = Literal["hits", "empty", "withheld", "mixed"]


class SearchRequest(BaseModel):
    """`identity` absent means an anonymous caller, which is not the same as a caller without groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str = Field(min_length=1, max_length=4_000)
    top_k: int = Field(default=8, ge=1, le=50)
    identity: Identity | None = None


class Hit(BaseModel):
    """One chunk that the caller may read. `rank` counts from 1 after fusion; lower is better."""

    model_config = ConfigDict(frozen=True)

    record_id: str
    chunk_id: str
    title: str
    text: str
    url: str
    source_system: str
    rank: int = Field(ge=1)
    updated_at: datetime


class Withheld(BaseModel):
    """Coordinates of something relevant that the caller may not read: never a title, a content or a record id."""

    model_config = ConfigDict(frozen=True)

    source_system: str
    author_principal_id: str | None = None
    contact: str | None = None


class SearchResponse(BaseModel):
    """`hits` and `mixed` carry hits, `withheld` and `mixed` carry withheld coordinates (deduplicated, sorted)."""

    model_config = ConfigDict(frozen=True)

    outcome: SearchOutcome
    store_id: str
    knowledge_version: int
    hits: tuple[Hit, ...] = ()
    withheld: tuple[Withheld, ...] = ()


class StoreStatus(BaseModel):
    """`knowledge_version` grows with every change of content or rights.

    `canary_at` is the time in the newest canary that came through the store's consumer of access signals; a store that
    says nothing of canaries is not judged by them.
    """

    model_config = ConfigDict(frozen=True)

    store_id: str
    is_empty: bool
    knowledge_version: int
    canary_at: AwareDatetime | None = None
