"""People who use the fronts while parts of them die: they ask, stop, leave, ask again, rate and open sources."""

import asyncio
import json
from contextlib import suppress
from random import Random
from typing import Any
from uuid import uuid4

import httpx

from tests.support.chaos.chronicle import AcceptedClick, AcceptedRating, Chronicle, Closing, SeenTurn
from tests.support.chaos.handbook import GREETING, QUESTIONS
from tests.support.front import Answer

_PATIENCE = httpx.Timeout(6.0)
_CLOSINGS: dict[str, Closing] = {"finish": "finished", "abort": "interrupted", "error": "failed"}


class ChaosPerson:
    """One person with one browser. Sessions and conversations are the same on every front."""

    def __init__(self, user_id: str, front_urls: tuple[str, ...], chronicle: Chronicle, seed: str) -> None:
        self._user_id = user_id
        self._front_urls = front_urls
        self._chronicle = chronicle
        self._random = Random(seed)
        self._conversation: str | None = None

    async def use(self, until: asyncio.Event) -> None:
        """Until told to stop; whatever a front does meanwhile is only noted."""
        async with httpx.AsyncClient(timeout=_PATIENCE) as client:
            signed_in = False
            while not until.is_set():
                try:
                    if not signed_in:
                        signed_in = await self._sign_in(client)
                    else:
                        await self._turn(client)
                except (httpx.HTTPError, ConnectionError):
                    await asyncio.sleep(0.2)
                await asyncio.sleep(self._random.uniform(0, 0.2))

    async def _sign_in(self, client: httpx.AsyncClient) -> bool:
        response = await client.post(f"{self._front()}/api/v1/session", json={"user_id": self._user_id})
        return response.is_success

    def _front(self) -> str:
        return self._random.choice(self._front_urls)

    async def _turn(self, client: httpx.AsyncClient) -> None:
        question = GREETING if self._random.random() < 0.1 else self._random.choice(QUESTIONS)
        body = {"message": question, "client_message_id": str(uuid4())}
        if self._conversation and self._random.random() < 0.7:
            body["conversation_id"] = self._conversation
        manner = self._random.choices(("read", "stop", "leave", "twice"), weights=(70, 12, 10, 8))[0]
        if manner == "twice":
            both = await asyncio.gather(
                *(self._ask(client, front, body) for front in self._front_urls), return_exceptions=True
            )
            answers = [answer for answer in both if isinstance(answer, Answer)]
        else:
            answer = await self._ask(client, self._front(), body, manner)
            answers = [answer] if answer else []
        for answer in answers:
            if answer.of("finish"):
                await self._use_answer(client, answer)
        if not any(answer.done for answer in answers):
            await self._mind_broken(client, body, answers)

    async def _ask(
        self, client: httpx.AsyncClient, front: str, body: dict[str, str], manner: str = "read"
    ) -> Answer | None:
        answer = Answer()
        try:
            async with client.stream("POST", f"{front}/api/v1/chat", json=body) as response:
                if response.is_error:
                    self._conversation = None
                    return None
                await self._read(client, response, answer, manner)
        finally:
            self._note(answer, body["message"], manner)
        return answer

    async def _read(self, client: httpx.AsyncClient, response: httpx.Response, answer: Answer, manner: str) -> None:
        leave_after = self._random.randint(3, 12)
        async for line in response.aiter_lines():
            if line == "data: [DONE]":
                answer.done = True
            elif line.startswith("data: "):
                part = json.loads(line[6:])
                answer.parts.append(part)
                if part["type"] == "start":
                    self._conversation = answer.conversation_id
            if len(answer.parts) == leave_after and manner == "leave":
                return
            if len(answer.parts) == leave_after and manner == "stop":
                manner = "read"
                await self._stop(client, answer.message_id)

    async def _stop(self, client: httpx.AsyncClient, message_id: str) -> None:
        with suppress(httpx.HTTPError):
            response = await client.post(f"{self._front()}/api/v1/turns/{message_id}/stop")
            self._chronicle.note(f"stop asked: {response.status_code}", message_id)

    def _note(self, answer: Answer, question: str, manner: str) -> None:
        if not answer.of("start"):
            return
        closing: Closing = next((_CLOSINGS[part["type"]] for part in answer.parts if part["type"] in _CLOSINGS), "none")
        seen = SeenTurn(
            answer.message_id, answer.conversation_id, question, answer.text, closing, answer.outcome, answer.error_code
        )
        self._chronicle.turns.append(seen)
        self._chronicle.note(
            f"{self._user_id} saw the stream end as {closing} {seen.outcome or seen.error_code or ''} ({manner})",
            answer.message_id,
        )

    async def _mind_broken(self, client: httpx.AsyncClient, body: dict[str, str], answers: list[Answer]) -> None:
        """The stream broke off: send the same message again, stop the turn, or just let it be."""
        self._conversation = None
        wish = self._random.choice(("again", "stop", "nothing"))
        if wish == "again":
            await self._ask(client, self._front(), body)
        elif wish == "stop":
            for answer in answers:
                if answer.of("start"):
                    await self._stop(client, answer.message_id)

    async def _use_answer(self, client: httpx.AsyncClient, answer: Answer) -> None:
        for _ in range(self._random.choice((0, 1, 1, 3))):
            await self._rate(client, answer.message_id)
        for citation in answer.citations:
            if self._random.random() < 0.4:
                await self._click(client, answer.message_id, citation)
        if self._random.random() < 0.1:
            await self._delete(client, answer)

    async def _delete(self, client: httpx.AsyncClient, answer: Answer) -> None:
        """Often while events of this conversation are still on their way."""
        self._conversation = None
        response = await client.delete(f"{self._front()}/api/v1/conversations/{answer.conversation_id}")
        if response.is_success:
            self._chronicle.deletions.add(answer.conversation_id)
            self._chronicle.note("the conversation was deleted", answer.message_id)

    async def _rate(self, client: httpx.AsyncClient, message_id: str) -> None:
        value = self._random.choice((1, -1, None))
        url = f"{self._front()}/api/v1/messages/{message_id}/feedback"
        response = await client.put(url, json={"value": value})
        if response.is_success:
            rating = AcceptedRating(message_id, value, response.json()["revision"])
            self._chronicle.ratings.append(rating)
            self._chronicle.note(f"rated {value}, revision {rating.revision}", message_id)

    async def _click(self, client: httpx.AsyncClient, message_id: str, citation: dict[str, Any]) -> None:
        click_id = str(uuid4())
        self._chronicle.clicks_tried.add(click_id)
        # A browser that hears no answer sends the same click again; some send it twice all the same.
        for _ in range(self._random.choice((1, 2))):
            url = f"{self._front()}/api/v1/messages/{message_id}/citations/{citation['n']}/open"
            response = await client.post(url, json={"click_id": click_id})
            if response.is_success:
                self._chronicle.clicks.append(AcceptedClick(message_id, click_id))
                self._chronicle.note(f"opened {citation['record_id']}, click {click_id}", message_id, click_id)
