"""`GET /api/v1/loop/health`: one leg for each part that could stop in silence."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from services.chat_api.http.authentication import AnyFront, AsAdmin
from services.chat_api.http.languages import AnyLanguage
from shared.messaging.leg_texts import leg_text
from shared.messaging.loop_health import Leg, LegReason, LegState, worst

router = APIRouter(prefix="/api/v1/loop", tags=["loop"])


class LegBody(BaseModel):
    """`age` in seconds and `count` are what the judgement rests on; `text` says it in plain words."""

    name: str
    state: LegState
    reason: LegReason
    age: float | None
    count: int | None
    text: str


class LoopHealthBody(BaseModel):
    object: Literal["loop_health"] = "loop_health"
    state: LegState
    legs: list[LegBody]


@router.get("/health")
async def read_health(_admin: AsAdmin, front: AnyFront, language: AnyLanguage, response: Response) -> LoopHealthBody:
    """Whether accesses, ratings, usage and traces still arrive, and what has stopped if not."""
    response.headers["cache-control"] = "no-store"
    legs = await front.loop_health.execute()
    return LoopHealthBody(state=worst(legs), legs=[_body(leg, language) for leg in legs])


def _body(leg: Leg, language: str) -> LegBody:
    return LegBody(
        name=leg.name,
        state=leg.state,
        reason=leg.reason,
        age=leg.age,
        count=leg.count,
        text=leg_text(leg, language),
    )
