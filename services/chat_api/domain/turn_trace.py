"""The events that a finished turn leaves behind."""

from datetime import datetime

from services.chat_api.domain.turn_record import ModelRun, RetrievalRecord, TurnRecord, TurnSubject
from shared.events import Event, ModelRunTraced, RetrievalTraced, SourceAccessed, UsageRecorded
from shared.events.retrieved import Candidate, RejectedSentence


def cited_signals(subject: TurnSubject, record: TurnRecord, now: datetime) -> list[Event]:
    """One signal per cited record of the store, however often it is cited. A web page has no trust to gain."""
    return [
        SourceAccessed(
            occurred_at=now,
            message_id=subject.message_id,
            conversation_id=subject.conversation_id,
            record_id=citation.record_id,
            source_system=citation.source_system,
            kind="cited",
        )
        for citation in record.citations
        if citation.origin == "knowledge"
    ]


def usage_records(subject: TurnSubject, record: TurnRecord, _now: datetime) -> list[Event]:
    return [_usage(subject, number, run) for number, run in enumerate(record.runs, start=1)]


def run_traces(subject: TurnSubject, record: TurnRecord, _now: datetime) -> list[Event]:
    return [_run(subject, number, run) for number, run in enumerate(record.runs, start=1)]


def retrieval_trace(subject: TurnSubject, record: TurnRecord, _now: datetime) -> list[Event]:
    """At most one: a conversational turn has none."""
    return [_retrieval(subject, record, record.retrieval)] if record.retrieval else []


EVENT_BUILDERS = (cited_signals, usage_records, run_traces, retrieval_trace)


def _usage(subject: TurnSubject, number: int, run: ModelRun) -> UsageRecorded:
    return UsageRecorded(
        occurred_at=run.at,
        message_id=subject.message_id,
        provider_call=number,
        user_id=subject.owner_id,
        department=subject.department,
        provider=run.provider,
        model=run.model,
        input_tokens=run.input_tokens,
        cached_input_tokens=run.cached_input_tokens,
        cache_write_tokens=run.cache_write_tokens,
        output_tokens=run.output_tokens,
        reasoning_tokens=run.reasoning_tokens,
        estimated=run.estimated,
        cost=run.price.amount if run.price else None,
        currency=run.price.currency if run.price else None,
    )


def _run(subject: TurnSubject, number: int, run: ModelRun) -> ModelRunTraced:
    return ModelRunTraced(
        occurred_at=run.at,
        message_id=subject.message_id,
        conversation_id=subject.conversation_id,
        provider_call=number,
        prompt_version_id=run.prompt.id,
        provider=run.provider,
        model=run.model,
        outcome=run.outcome,
        input_tokens=run.input_tokens,
        cached_input_tokens=run.cached_input_tokens,
        output_tokens=run.output_tokens,
        estimated=run.estimated,
        latency_ms=run.latency_ms,
        first_token_ms=run.first_token_ms,
        input_hash=run.input_hash,
        output_hash=run.output_hash,
        cost=run.price.amount if run.price else None,
        currency=run.price.currency if run.price else None,
    )


def _retrieval(subject: TurnSubject, record: TurnRecord, retrieval: RetrievalRecord) -> RetrievalTraced:
    return RetrievalTraced(
        occurred_at=retrieval.at,
        message_id=subject.message_id,
        conversation_id=subject.conversation_id,
        query=retrieval.query,
        outcome=retrieval.outcome,
        store_id=retrieval.store_id,
        knowledge_version=retrieval.knowledge_version,
        cache_hit=retrieval.cache_hit,
        fault=retrieval.fault,
        candidates=tuple(
            Candidate(record_id=one.record_id, chunk_id=one.chunk_id, rank=one.rank) for one in retrieval.candidates
        ),
        packed=tuple(passage.chunk_id for passage in record.passages),
        cited=tuple(citation.record_id for citation in record.citations),
        rejected=tuple(
            RejectedSentence(sentence_hash=one.sentence_hash, reason=str(one.reason), cited=one.cited)
            for one in record.rejections
        ),
        notes=tuple(record.notes),
        timings_ms=retrieval.timings_ms,
    )
