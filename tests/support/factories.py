"""Typed factories for what the domain works on."""

from datetime import UTC, datetime

from services.chat_api.domain.caller import DEMO_AUTHORITY, Caller
from services.chat_api.domain.model_call import ModelMessage, Purpose
from services.chat_api.domain.passages import Passage
from services.chat_api.domain.prompts import PromptVersion
from services.chat_api.domain.ranking import Candidate
from services.chat_api.domain.turn_record import ModelRun
from shared.identity import Identity


def make_caller(user_id: str = "anna") -> Caller:
    return Caller.known(make_identity(user_id), DEMO_AUTHORITY)


def make_identity(user_id: str = "anna") -> Identity:
    return Identity(user_id=user_id, display_name=user_id.title(), groups=("staff",))


def make_candidate(
    record_id: str = "handbook/leave.md", *, rank: int = 1, text: str = "Text.", ordinal: int = 1
) -> Candidate:
    return Candidate(
        record_id=record_id,
        chunk_id=f"{record_id}#{ordinal}",
        title="Annual leave",
        text=text,
        url=f"/sources/{record_id}",
        source_system="Handbook",
        rank=rank,
    )


def make_passage(n: int = 1, text: str = "Text.", *, record_id: str = "handbook/leave.md", ordinal: int = 1) -> Passage:
    return Passage(
        n=n,
        record_id=record_id,
        chunk_id=f"{record_id}#{ordinal}",
        title="Annual leave",
        text=text,
        url=f"/sources/{record_id}",
        source_system="Handbook",
    )


def make_model_run(prompt: PromptVersion, *, model: str = "m-1", purpose: Purpose = "answer") -> ModelRun:
    return ModelRun(
        prompt=prompt,
        provider="scripted",
        model=model,
        outcome="completed",
        input_tokens=10,
        cached_input_tokens=0,
        output_tokens=5,
        estimated=False,
        latency_ms=3,
        first_token_ms=1,
        input_hash="0" * 64,
        output_hash="1" * 64,
        at=datetime(2026, 11, 30, tzinfo=UTC),
        purpose=purpose,
    )


def make_history(*turns: tuple[str, str]) -> tuple[ModelMessage, ...]:
    """Pairs of question and answer."""
    return tuple(
        message
        for question, answer in turns
        for message in (ModelMessage("user", question), ModelMessage("assistant", answer))
    )
