"""`POST /api/v1/chat`: one turn, streamed. `POST /api/v1/turns/{message_id}/stop` ends it early."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, field_validator

from services.chat_api.domain.turn_events import TurnEvent
from services.chat_api.http.authentication import AnyCaller, AnyFront, ReturningCaller
from services.chat_api.http.event_stream import EventStream
from services.chat_api.http.front import Front
from services.chat_api.http.identifiers import ClientId, MessageId, parse_id
from services.chat_api.http.languages import AnyLanguage
from services.chat_api.http.ui_stream import UI_STREAM_HEADERS, UiStream
from services.chat_api.use_cases.replay_turn import replayed_events
from services.chat_api.use_cases.start_turn import ChatCommand, FinishedEarlier, StartedTurn
from services.chat_api.use_cases.turn_channel import TurnChannel

router = APIRouter(prefix="/api/v1", tags=["chat"])
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"description": "The turn as events, each a JSON object", "content": {"text/event-stream": {}}}
}
_SEND_TIMEOUT_SECONDS = 30


class ChatRequest(BaseModel):
    """`client_message_id` is chosen by the client; sending the same one again never asks twice."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"message": "How many days of annual leave do I have?"}}
    )

    message: str = Field(max_length=400_000)
    conversation_id: str | None = Field(default=None, max_length=64)
    client_message_id: ClientId | None = None
    model: str | None = Field(default=None, max_length=200)

    @field_validator("message")
    @classmethod
    def _storable(cls, message: str) -> str:
        if "\x00" in message:
            raise ValueError("the message holds a NUL character, which is no text")
        return message


@router.post("/chat", status_code=200, response_class=EventStream, responses=STREAMED)
async def chat(request: ChatRequest, caller: ReturningCaller, front: AnyFront, language: AnyLanguage) -> EventStream:
    """Ask. The answer streams as the AI SDK's UI message stream, version 1."""
    command = ChatCommand(
        message=request.message,
        caller=caller,
        conversation_id=parse_id(request.conversation_id) if request.conversation_id else None,
        client_message_id=request.client_message_id,
        model=request.model,
        preferred_language=language,
    )
    turn = await front.start_turn.execute(command)
    return event_stream(front, UiStream().frames(turn_events(front, turn)), UI_STREAM_HEADERS)


def event_stream(front: Front, frames: AsyncGenerator[bytes, None], headers: Mapping[str, str]) -> EventStream:
    """Server-sent events that stay alive in silence and give a reader up that reads nothing."""
    ping = front.keep_alive_every.total_seconds()
    return EventStream(frames, headers=headers, ping=ping, send_timeout=_SEND_TIMEOUT_SECONDS)


def turn_events(front: Front, turn: StartedTurn | FinishedEarlier) -> AsyncGenerator[TurnEvent, None]:
    """What the turn tells, told again if it was answered before."""
    return replayed_events(turn.message, turn.language) if isinstance(turn, FinishedEarlier) else _launch(front, turn)


def _launch(front: Front, turn: StartedTurn) -> AsyncGenerator[TurnEvent, None]:
    """Started here and not by its reader: a client that is gone before the first byte must not leave it unended."""
    channel = TurnChannel()
    front.running_turns.launch(turn.message_id, _work(front, turn, channel))
    return _read(front, turn, channel)


async def _read(front: Front, turn: StartedTurn, channel: TurnChannel) -> AsyncGenerator[TurnEvent, None]:
    """When the reader leaves early, the turn is asked to stop, and stores itself."""
    try:
        async for event in channel.events():
            yield event
    finally:
        channel.leave()
        front.running_turns.stop(turn.message_id)


async def _work(front: Front, turn: StartedTurn, channel: TurnChannel) -> None:
    try:
        unsaved = await front.run_chat_turn.execute(turn, front.metrics.observing(channel.send))
    finally:
        await channel.end()
    if unsaved:
        # A task of its own: the reader that leaves now must not stop it.
        front.running_turns.launch(uuid4(), front.run_chat_turn.save_later(unsaved))


class StopAccepted(BaseModel):
    message_id: UUID


@router.post("/turns/{message_id}/stop", status_code=202)
async def stop(message_id: MessageId, caller: AnyCaller, front: AnyFront, response: Response) -> StopAccepted:
    """End one's own running turn. A turn that has ended stays as it is."""
    response.headers["cache-control"] = "no-store"
    await front.stop_turn.execute(caller, message_id)
    return StopAccepted(message_id=message_id)
