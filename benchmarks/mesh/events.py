"""The events of grounded turns: two sources cited, two model calls, one retrieval."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4

from shared.events import Event, ModelRunTraced, RetrievalTraced, SourceAccessed, UsageRecorded
from shared.events.retrieved import Candidate, RejectedSentence

PROMPT_VERSION = "p"
_RECORDS = 500
_CALLS = (1, 2)
_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_COST = Decimal("0.0004125000")


def usage_only(conversations: Sequence[UUID], count: int) -> list[Event]:
    return [_usage(uuid4(), 1) for _ in range(count)]


def signals_of_turns(conversations: Sequence[UUID], count: int) -> list[Event]:
    """As turns send them, one turn after the other."""
    return [event for at in range(count // 4) for event in _signals(uuid4(), _one_of(conversations, at), at)]


def traces_of_turns(conversations: Sequence[UUID], count: int) -> list[Event]:
    return [event for at in range(count // 3) for event in _traces(uuid4(), _one_of(conversations, at))]


def events_of_a_turn(message_id: UUID, conversation_id: UUID, at: int) -> list[Event]:
    return [*_signals(message_id, conversation_id, at), *_traces(message_id, conversation_id)]


def _one_of(conversations: Sequence[UUID], at: int) -> UUID:
    return conversations[at % len(conversations)]


def _signals(message_id: UUID, conversation_id: UUID, at: int) -> list[Event]:
    accesses = [
        SourceAccessed(
            occurred_at=datetime.now(UTC),
            message_id=message_id,
            conversation_id=conversation_id,
            record_id=f"handbook/page-{(at + number) % _RECORDS}.md",
            source_system="HR handbook",
            kind="cited",
        )
        for number in range(2)
    ]
    return [*accesses, *(_usage(message_id, call) for call in _CALLS)]


def _usage(message_id: UUID, call: int) -> Event:
    return UsageRecorded(
        occurred_at=datetime.now(UTC),
        message_id=message_id,
        provider_call=call,
        user_id="anna@example.com",
        department="Engineering",
        provider="openai",
        model="m-1",
        input_tokens=1800,
        cached_input_tokens=1024,
        output_tokens=90,
        estimated=False,
        cost=_COST,
        currency="USD",
    )


def _traces(message_id: UUID, conversation_id: UUID) -> list[Event]:
    return [_retrieval(message_id, conversation_id), *(_run(message_id, conversation_id, call) for call in _CALLS)]


def _retrieval(message_id: UUID, conversation_id: UUID) -> Event:
    chunks = tuple(f"handbook/page-{number}.md#0" for number in range(8))
    return RetrievalTraced(
        occurred_at=datetime.now(UTC),
        message_id=message_id,
        conversation_id=conversation_id,
        query="How many days of leave may be carried over into the next year, and until when?",
        outcome="hits",
        store_id="embedded",
        knowledge_version=7,
        cache_hit=False,
        candidates=tuple(
            Candidate(record_id=chunk[:-2], chunk_id=chunk, rank=at) for at, chunk in enumerate(chunks, start=1)
        ),
        packed=chunks,
        cited=chunks[:2],
        rejected=(RejectedSentence(sentence_hash=_HASH, reason="unsupported", cited=(1,)),),
        timings_ms={"route": 410, "search": 35, "answer": 900},
    )


def _run(message_id: UUID, conversation_id: UUID, call: int) -> Event:
    return ModelRunTraced(
        occurred_at=datetime.now(UTC),
        message_id=message_id,
        conversation_id=conversation_id,
        provider_call=call,
        prompt_version_id=PROMPT_VERSION,
        provider="openai",
        model="m-1",
        outcome="completed",
        input_tokens=1800,
        cached_input_tokens=1024,
        output_tokens=90,
        estimated=False,
        latency_ms=900,
        first_token_ms=210,
        input_hash=_HASH,
        output_hash=_HASH,
        cost=_COST,
        currency="USD",
    )
