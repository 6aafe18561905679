"""A whole Knowledge Store in the process of the test: its HTTP application, and an ingest beside it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import httpx

from services.knowledge_store.domain.access import Access
from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.domain.ingest_report import IngestProgress, IngestReport
from services.knowledge_store.main import create_app
from services.knowledge_store.settings import KnowledgeStoreSettings
from services.knowledge_store.use_cases.ingest_folder import IngestService
from services.knowledge_store.wiring import open_ingest_service
from shared.identity import Identity
from shared.knowledge_contract import SearchRequest, SearchResponse, StoreStatus
from tests.support.knowledge_folder import KnowledgeFolder

TOKEN = "a-service-token"


def make_settings(database_url: str, nats_url: str | None = None, **more: object) -> KnowledgeStoreSettings:
    return KnowledgeStoreSettings.model_validate(
        {"database_url": database_url, "knowledge_token": TOKEN, "nats_url": nats_url, **more}
    )


def make_identity(user_id: str, *groups: str) -> Identity:
    return Identity(user_id=user_id, display_name=user_id.title(), groups=groups)


@dataclass
class RunningStore:
    """`progress` holds what the last ingest told while it ran."""

    client: httpx.AsyncClient
    ingest_service: IngestService
    progress: list[IngestProgress] = field(default_factory=list)

    async def ingest(
        self,
        folder: KnowledgeFolder,
        collection: str | None = None,
        *,
        default_access: Access | None = None,
        allow_empty: bool = True,
    ) -> IngestReport:
        self.progress.clear()
        return await self.ingest_service.ingest(
            folder.root,
            self.progress.append,
            collection=collection,
            default_access=default_access,
            allow_empty=allow_empty,
        )

    async def search(self, query: str, identity: Identity | None = None, top_k: int = 8) -> SearchResponse:
        body = SearchRequest(query=query, identity=identity, top_k=top_k).model_dump(mode="json")
        response = await self.client.post("/v1/search", json=body)
        assert response.status_code == 200, response.text
        return SearchResponse.model_validate_json(response.content)

    async def status(self) -> StoreStatus:
        response = await self.client.get("/v1/status")
        assert response.status_code == 200, response.text
        return StoreStatus.model_validate_json(response.content)

    async def read(self, record_id: str, identity: Identity | None = None) -> httpx.Response:
        who = identity.model_dump(mode="json") if identity is not None else None
        return await self.client.post("/v1/record", json={"record_id": record_id, "identity": who})


@asynccontextmanager
async def run_store(
    database_url: str, embedder: Embedder | None = None, nats_url: str | None = None, **more: object
) -> AsyncIterator[RunningStore]:
    """The service on a database of its own, started and stopped as a server would."""
    settings = make_settings(database_url, nats_url, **more)
    app = create_app(settings, embedder)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        ingest_service = await stack.enter_async_context(open_ingest_service(settings, embedder))
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://store",
            headers={"authorization": f"Bearer {TOKEN}"},
        )
        yield RunningStore(await stack.enter_async_context(client), ingest_service)
