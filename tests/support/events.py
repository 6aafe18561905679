"""Typed factories for events, and publishing them as the relay does."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from nats.js import JetStreamContext

from shared.events import (
    AnswerRated,
    Event,
    KnowledgeChanged,
    ModelRunTraced,
    RetrievalTraced,
    SourceAccessed,
    UsageRecorded,
)
from shared.messaging.envelope import body_of, headers_of, with_message_id

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def make_click(click_id: str = "k1", *, message_id: UUID | None = None, record_id: str = "a.md") -> SourceAccessed:
    return SourceAccessed(
        occurred_at=AT,
        message_id=message_id or uuid4(),
        conversation_id=uuid4(),
        record_id=record_id,
        source_system="Handbook",
        kind="clicked",
        click_id=click_id,
    )


def make_rating(message_id: UUID, value: int | None, revision: int) -> AnswerRated:
    return AnswerRated.model_validate(
        {
            "occurred_at": AT,
            "message_id": message_id,
            "conversation_id": uuid4(),
            "value": value,
            "revision": revision,
        }
    )


def make_usage(**more: object) -> UsageRecorded:
    fields: dict[str, object] = {
        "occurred_at": AT,
        "message_id": uuid4(),
        "provider_call": 1,
        "user_id": "anna",
        "department": "Engineering",
        "provider": "scripted",
        "model": "m-1",
        "input_tokens": 10,
        "output_tokens": 5,
        "estimated": False,
    }
    return UsageRecorded.model_validate({**fields, **more})


def make_knowledge_change(version: int, *, is_empty: bool) -> KnowledgeChanged:
    return KnowledgeChanged(occurred_at=AT, store_id="s1", knowledge_version=version, is_empty=is_empty)


def make_run(message_id: UUID, conversation_id: UUID, provider_call: int = 1) -> ModelRunTraced:
    return ModelRunTraced(
        occurred_at=AT,
        message_id=message_id,
        conversation_id=conversation_id,
        provider_call=provider_call,
        prompt_version_id="p",
        provider="scripted",
        model="m-1",
        outcome="completed",
        input_tokens=10,
        output_tokens=5,
        estimated=False,
        latency_ms=1,
        first_token_ms=None,
        input_hash="i",
        output_hash="o",
    )


def make_retrieval(message_id: UUID, conversation_id: UUID) -> RetrievalTraced:
    return RetrievalTraced(
        occurred_at=AT,
        message_id=message_id,
        conversation_id=conversation_id,
        query="leave",
        outcome="hits",
        store_id="s1",
        knowledge_version=1,
        cache_hit=False,
    )


async def publish(jetstream: JetStreamContext, event: Event, *, epoch: int = 1) -> None:
    headers = with_message_id(headers_of(event, source="test"), event.event_id, epoch)
    await jetstream.publish(event.subject, body_of(event), stream=event.stream, headers=headers)
