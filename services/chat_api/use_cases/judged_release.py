"""From the gate to the reader: in order, each piece once it is checked, past the judge where one is configured."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.chat_api.adapters.model_faults import MODEL_FAULTS
from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.grounding.joining import Joined
from services.chat_api.domain.grounding.release import Claim, JudgeScope, RejectionReason, ReleasedText
from services.chat_api.domain.judge import Judge
from services.chat_api.use_cases.judge_calls import observed_ruling
from services.chat_api.use_cases.turn_under_way import TurnUnderWay

Release = Callable[[Sequence[ReleasedText]], Awaitable[None]]

# A judge that fails this often in a row is not asked again in the turn: it would only cost its timeout each time.
_MOST_FAULTS = 3


@dataclass(frozen=True, slots=True)
class Judging:
    """`timeout` bounds one ruling; at most `at_once` of them run at a time in a turn."""

    judge: Judge
    scope: JudgeScope
    timeout: timedelta
    at_once: int = 4


@asynccontextmanager
async def releasing(
    turn: TurnUnderWay, gate: GroundingGate, judging: Judging | None, now: Callable[[], datetime]
) -> AsyncGenerator[Release, None]:
    """Yields what takes the gate's pieces. Leaving waits for what is not ruled yet; a fault inside withdraws it."""
    if judging is None:

        async def release(pieces: Sequence[ReleasedText]) -> None:
            for piece in pieces:
                await turn.release(piece.text)

        yield release
        return
    judged = _JudgedRelease(turn, gate, judging, now)
    try:
        yield judged.put
        await judged.drain()
    finally:
        await judged.stop()


@dataclass(slots=True, eq=False)
class _Waiting:
    """A piece on its way; `settled` once it is released or refused."""

    piece: ReleasedText
    settled: bool = False
    task: asyncio.Task[None] | None = None

    async def done(self) -> None:
        if self.task is not None:
            await self.task


class _JudgedRelease:
    """One task a piece: it asks the judge at once, then waits for the piece before it."""

    def __init__(self, turn: TurnUnderWay, gate: GroundingGate, judging: Judging, now: Callable[[], datetime]) -> None:
        self._turn = turn
        self._gate = gate
        self._judging = judging
        self._now = now
        self._joined = Joined()
        self._waiting: deque[_Waiting] = deque()
        self._faults = 0

    async def put(self, pieces: Sequence[ReleasedText]) -> None:
        for piece in pieces:
            while len(self._waiting) >= self._judging.at_once:
                await self._first_done()
            before = self._waiting[-1] if self._waiting else None
            waiting = _Waiting(piece)
            waiting.task = asyncio.create_task(self._pass(waiting, before))
            self._waiting.append(waiting)

    async def drain(self) -> None:
        while self._waiting:
            await self._first_done()

    async def stop(self) -> None:
        """What was not released by now never is, so it is not cited either."""
        tasks = [waiting.task for waiting in self._waiting if waiting.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for waiting in self._waiting:
            if not waiting.settled:
                self._gate.withdraw(waiting.piece)
        self._waiting.clear()

    async def _first_done(self) -> None:
        await self._waiting[0].done()
        self._waiting.popleft()

    async def _pass(self, waiting: _Waiting, before: _Waiting | None) -> None:
        piece = waiting.piece
        reason = None if piece.claim is None else await self._refusal(piece.claim)
        if before is not None:
            await before.done()
        waiting.settled = True
        if reason is None:
            await self._turn.release(self._joined.release(piece))
        else:
            self._joined.drop(piece)
            self._gate.withdraw(piece, reason)

    async def _refusal(self, claim: Claim) -> RejectionReason | None:
        """Fails closed: whatever is not a yes keeps the sentence back."""
        if self._faults >= _MOST_FAULTS:
            return RejectionReason.JUDGE_UNAVAILABLE
        try:
            ruling = await observed_ruling(
                self._judging.judge, claim, self._turn.record, self._now, self._judging.timeout
            )
        except MODEL_FAULTS:
            self._faults += 1
            return RejectionReason.JUDGE_UNAVAILABLE
        self._faults = 0
        return None if ruling.supported else RejectionReason.JUDGE_REJECTED
