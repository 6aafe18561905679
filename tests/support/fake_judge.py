"""A judge whose every ruling is scripted, behind the same seam as the real one."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from services.chat_api.domain.grounding.release import Claim
from services.chat_api.domain.judge import Ruling
from services.chat_api.domain.model_call import ModelUsage

FAKE_JUDGE = "judge-1"
Answer = bool | Exception | asyncio.Event


class FakeJudge:
    """`answer` rules on a claim: yes or no, a fault to raise, or an event that is waited for and then a yes."""

    provider: ClassVar[str] = "scripted"
    model = FAKE_JUDGE

    def __init__(self, answer: Callable[[Claim], Answer] = lambda _claim: True) -> None:
        self.answer = answer
        self.claims: list[Claim] = []
        self.under_way = 0
        self.most_under_way = 0

    async def rule(self, claim: Claim) -> Ruling:
        self.claims.append(claim)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            answer = self.answer(claim)
            if isinstance(answer, asyncio.Event):
                await answer.wait()
                answer = True
            if isinstance(answer, Exception):
                raise answer
            return Ruling(answer, FAKE_JUDGE, ModelUsage(50, 1))
        finally:
            self.under_way -= 1
