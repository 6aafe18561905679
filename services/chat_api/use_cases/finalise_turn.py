"""End a turn: message, outbox rows and the turn's end in one transaction."""

import logging
from collections.abc import Callable
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.turn_record import TurnRecord, TurnSubject
from services.chat_api.domain.turn_trace import EVENT_BUILDERS
from services.chat_api.storage.prompt_versions import PromptVersions
from services.chat_api.storage.turns import FinishedMessage, finish_turn
from services.chat_api.use_cases.price_calls import PriceCalls
from shared.database.driver import driver_connection
from shared.messaging.outbox import OutboxRow, make_row
from shared.tracing import span

logger = logging.getLogger(__name__)
EVENT_SOURCE = "chat_api"


class FinaliseTurn:
    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime], prices: PriceCalls) -> None:
        self._engine = engine
        self._prices = prices
        self._now = now
        self._prompts = PromptVersions()

    async def execute(self, subject: TurnSubject, record: TurnRecord) -> bool:
        """False if somebody else ended the turn before. A fault of the database is raised: nothing is written."""
        now = self._now()
        record.runs = [self._prices.priced(run) for run in record.runs]
        # The events are built inside, so that whoever applies them goes on from here, however much later.
        with span("store turn", {"db.system.name": "postgresql"}) as opened:
            rows = _fenced_rows(subject, record, now)
            async with driver_connection(self._engine) as connection:
                await self._prompts.register(connection, (run.prompt for run in record.runs))
                saved = await finish_turn(connection, _message_of(subject, record, now), rows)
            opened.note({"achilles.events": len(rows), "achilles.turn.saved": saved})
            return saved


def _fenced_rows(subject: TurnSubject, record: TurnRecord, now: datetime) -> list[OutboxRow]:
    """A bug in building events is logged and the turn is still saved."""
    rows: list[OutboxRow] = []
    for build in EVENT_BUILDERS:
        try:
            rows.extend([make_row(event, source=EVENT_SOURCE) for event in build(subject, record, now)])
        except Exception:
            logger.exception("event_not_built", extra={"builder": build.__name__})
    return rows


def _message_of(subject: TurnSubject, record: TurnRecord, now: datetime) -> FinishedMessage:
    return FinishedMessage(
        message_id=subject.message_id,
        conversation_id=subject.conversation_id,
        content=record.content,
        outcome=record.outcome,
        model=record.model or None,
        tokens_used=record.input_tokens + record.output_tokens,
        citations=record.citations,
        hint=record.hint,
        notices=tuple(record.notices),
        finished_at=now,
    )
