"""A turn while it runs: where it came from, what happened so far, and how its client hears of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from services.chat_api.domain.grounding.language import Language
from services.chat_api.domain.model_call import ModelMessage
from services.chat_api.domain.runtime_rules import RuntimeRules
from services.chat_api.domain.texts import TextKey, text_for
from services.chat_api.domain.turn_events import AnswerDelta, Notice, NoticeCode, TurnEvent
from services.chat_api.domain.turn_record import TurnRecord
from services.chat_api.use_cases.models import ModelChoice
from services.chat_api.use_cases.start_turn import StartedTurn

Emit = Callable[[TurnEvent], Awaitable[None]]


@dataclass(slots=True)
class TurnUnderWay:
    started: StartedTurn
    model: ModelChoice
    language: Language
    emit: Emit
    history: tuple[ModelMessage, ...] = ()
    record: TurnRecord = field(default_factory=TurnRecord)

    @property
    def rules(self) -> RuntimeRules:
        return self.started.rules

    def text(self, key: TextKey) -> str:
        return text_for(key, self.language)

    async def give_notice(self, code: NoticeCode, key: TextKey) -> None:
        """A remark beside the answer. It is stored with it, so that a reload shows it again."""
        notice = Notice(code, self.text(key))
        self.record.notices.append(notice)
        await self.emit(notice)

    async def release(self, text: str) -> None:
        """Text that the user may see. It is noted first: what was sent is what is stored."""
        if text:
            self.record.text.append(text)
            await self.emit(AnswerDelta(text))
