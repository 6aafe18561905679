"""A turn under way without a database: what it would tell its client is collected."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from services.chat_api.domain.budget import Window
from services.chat_api.domain.grounding.language import detect_language
from services.chat_api.domain.model_call import ModelClient
from services.chat_api.domain.passages import Passage
from services.chat_api.domain.runtime_rules import ModelList, RuntimeRules
from services.chat_api.domain.turn_events import TurnEvent
from services.chat_api.use_cases.models import ModelChoice
from services.chat_api.use_cases.start_turn import StartedTurn
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.use_cases.turn_under_way import TurnUnderWay
from tests.support.factories import make_caller

SETTINGS = TurnSettings(
    window=Window(16_384, 1_024),
    passages_at_most=8,
    hard_deadline=timedelta(seconds=20),
    finalise_deadline=timedelta(seconds=5),
)


def now() -> datetime:
    return datetime.now(UTC)


def make_turn(
    question: str,
    passages: Sequence[Passage],
    model: ModelClient,
    told: list[TurnEvent] | None = None,
    *,
    model_name: str = "any",
) -> TurnUnderWay:
    """A turn whose passages are packed; its events are appended to `told`."""
    events = [] if told is None else told

    async def emit(event: TurnEvent) -> None:
        events.append(event)

    started = StartedTurn(
        message_id=uuid4(),
        conversation_id=uuid4(),
        caller=make_caller(),
        message=question,
        selected_model=None,
        history=(),
        language=detect_language(question),
        rules=RuntimeRules(ModelList(default=model_name, allowed=(model_name,))),
    )
    turn = TurnUnderWay(started, ModelChoice(model_name, model), detect_language(question), emit)
    turn.record.passages = tuple(passages)
    return turn
