"""How a turn can fail, and the sentence that the person who asked reads for each."""

import logging

from services.chat_api.adapters.model_faults import MODEL_FAULTS, ModelBusyError, ModelRefusedError
from services.chat_api.domain.texts import TextKey
from services.chat_api.domain.turn_events import TurnFailed
from services.chat_api.use_cases.first_call import ToolCallUnusableError
from services.chat_api.use_cases.turn_under_way import TurnUnderWay
from shared.errors import AchillesError

logger = logging.getLogger(__name__)


class KnowledgeFailedError(AchillesError):
    """The store could not be asked, and nothing else was found: the turn fails, it does not say `not found`."""

    code = "knowledge_unavailable"
    retryable = True


class WebFailedError(AchillesError):
    """The store knows nothing, and the web could not be asked: whether there is nothing is not known."""

    code = "web_unavailable"
    retryable = True


class PassagesDoNotFitError(AchillesError):
    """Something was found, and message and history leave no room for it. That is not the same as nothing found."""

    code = "message_too_large"


_TEXTS: tuple[tuple[type[Exception], TextKey], ...] = (
    (KnowledgeFailedError, "knowledge_failed"),
    (WebFailedError, "web_failed"),
    (PassagesDoNotFitError, "too_long"),
    (ToolCallUnusableError, "tool_call_unusable"),
    (ModelRefusedError, "model_refused"),
    (ModelBusyError, "model_busy"),
    *((fault, "model_failed") for fault in MODEL_FAULTS),
)


def failure_of(turn: TurnUnderWay, fault: Exception) -> TurnFailed:
    for kind, key in _TEXTS:
        if isinstance(fault, kind) and isinstance(fault, AchillesError):
            logger.warning("turn_failed", extra={"code": fault.code, "detail": fault.detail})
            return TurnFailed(fault.code, turn.text(key), fault.retryable)
    logger.error("turn_failed", extra={"code": "internal"}, exc_info=fault)
    return TurnFailed("internal", turn.text("internal"), retryable=True)
