"""`POST /v1/chat/completions`: the same turn as `POST /api/v1/chat`, in the words of the OpenAI API."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any
from uuid import UUID, uuid5

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse

from services.chat_api.domain.caller import Caller
from services.chat_api.domain.grounding.language import Language
from services.chat_api.domain.turn_events import TurnEvent, TurnFailed
from services.chat_api.http.authentication import AnyFront, ApiCaller
from services.chat_api.http.chat import event_stream, turn_events
from services.chat_api.http.identifiers import parse_id
from services.chat_api.http.languages import AnyLanguage
from services.chat_api.http.openai_answer import OpenAiAnswer
from services.chat_api.http.openai_bodies import AnswerMessage, ChatCompletion, Choice
from services.chat_api.http.openai_request import (
    ACHILLES_MODEL,
    CompletionHeaders,
    CompletionRequest,
    read_conversation,
    refuse_what_is_not_done,
)
from services.chat_api.http.openai_stream import OPENAI_STREAM_HEADERS, OpenAiChunks, failed_turn, failure_status
from services.chat_api.http.problems import RETRY_AFTER_SECONDS
from services.chat_api.use_cases.start_turn import ChatCommand, FinishedEarlier, StartedTurn

router = APIRouter(prefix="/v1", tags=["openai"])
_OPEN_WEBUI_CHATS = UUID("0d5b1a0e-6a3c-4a0e-9f0a-6f1f3f6d2c11")
# Open WebUI's chats that it keeps nowhere; all of a browser's share one name, so they are no thread.
_TEMPORARY = "local:"
_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The completion, or its chunks with `stream`",
        "content": {"text/event-stream": {}},
    }
}


@router.post("/chat/completions", response_model=ChatCompletion, responses=_STREAMED)
async def complete(
    body: CompletionRequest,
    headers: Annotated[CompletionHeaders, Header()],
    request: Request,
    caller: ApiCaller,
    front: AnyFront,
    language: AnyLanguage,
) -> Response:
    """Ask, as a client of the OpenAI API does; with `stream` the answer comes in chunks."""
    refuse_what_is_not_done(body)
    command = _command(body, headers, caller, language)
    turn = await front.start_turn.execute(command)
    asked = headers.x_achilles_source_links
    links = front.append_source_links if asked is None else asked == "true"
    answer = OpenAiAnswer(*_ids_of(turn), str(request.base_url), source_links=links)
    events = turn_events(front, turn)
    created = int(time.time())
    if body.stream:
        chunks = OpenAiChunks(answer, created=created, include_usage=body.include_usage)
        return event_stream(front, chunks.frames(events), {**OPENAI_STREAM_HEADERS, **_headers_of(answer)})
    await _read_all(request, events, answer)
    return _whole(answer, created, told_again=headers.idempotency_key is not None)


def _command(body: CompletionRequest, headers: CompletionHeaders, caller: Caller, language: Language) -> ChatCommand:
    told = read_conversation(body)
    named = None if body.model == ACHILLES_MODEL else body.model
    return ChatCommand(
        message=told.question,
        caller=caller,
        conversation_id=parse_id(headers.x_conversation_id) if headers.x_conversation_id else None,
        client_message_id=headers.idempotency_key,
        model=named,
        preferred_language=language,
        opens=_thread_of(headers.x_openwebui_chat_id, caller),
        instructions=told.instructions,
        told=told.earlier,
        answer_with=named,
    )


def _thread_of(chat_id: str | None, caller: Caller) -> UUID | None:
    """Made from the owner too: the same name, sent by two people, is two threads."""
    if chat_id is None or chat_id.startswith(_TEMPORARY):
        return None
    return uuid5(_OPEN_WEBUI_CHATS, f"{caller.owner_id}\n{chat_id}")


async def _read_all(request: Request, events: AsyncGenerator[TurnEvent, None], answer: OpenAiAnswer) -> None:
    """Until the turn has ended or its client has left, which ends it."""
    reading = asyncio.create_task(_feed(events, answer))
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        reading.cancel()
        leaving.cancel()
        await asyncio.gather(reading, leaving, return_exceptions=True)
    if not reading.cancelled():
        reading.result()


async def _feed(events: AsyncGenerator[TurnEvent, None], answer: OpenAiAnswer) -> None:
    async with aclosing(events):
        async for event in events:
            answer.feed(event)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _ids_of(turn: StartedTurn | FinishedEarlier) -> tuple[UUID, UUID]:
    """Of the conversation and of the message."""
    if isinstance(turn, FinishedEarlier):
        return turn.message.conversation_id, turn.message.id
    return turn.conversation_id, turn.message_id


def _headers_of(answer: OpenAiAnswer) -> dict[str, str]:
    return {"x-conversation-id": str(answer.conversation_id)}


def _whole(answer: OpenAiAnswer, created: int, *, told_again: bool) -> Response:
    if answer.failed:
        return _failure(answer, answer.failed, told_again=told_again)
    if not (answer.finished or answer.interrupted):
        # The client has left, so nobody reads this.
        return Response(status_code=499)
    message = AnswerMessage(content=answer.text, annotations=answer.annotations)
    completion = ChatCompletion(
        id=answer.completion_id,
        created=created,
        model=answer.model,
        choices=(Choice(message=message, finish_reason="length" if answer.interrupted else "stop"),),
        usage=answer.usage,
        achilles=answer.achilles,
    )
    headers = {"cache-control": "no-store", **_headers_of(answer)}
    return Response(completion.model_dump_json(exclude_none=True), media_type="application/json", headers=headers)


def _failure(answer: OpenAiAnswer, failed: TurnFailed, *, told_again: bool) -> Response:
    headers = {"cache-control": "no-store", **_headers_of(answer)}
    if failed.retryable:
        headers["retry-after"] = str(RETRY_AFTER_SECONDS)
    if told_again:
        # Under the same key the same failure is told again; the SDKs obey this header.
        headers["x-should-retry"] = "false"
    body = failed_turn(answer, failed)
    return JSONResponse(body.model_dump(mode="json"), failure_status(failed), headers=headers)
