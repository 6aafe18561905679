"""Which event has which effect here."""

from services.signal_worker.storage.accesses import apply_accesses
from services.signal_worker.storage.knowledge_state import apply_knowledge_changes
from services.signal_worker.storage.ratings import apply_ratings
from services.signal_worker.storage.usage import apply_usage
from shared.events import AnswerRated, Event, KnowledgeChanged, SignalCanary, SourceAccessed, UsageRecorded
from shared.events.streams import SIGNAL_STREAM
from shared.messaging.canary import canary_effect
from shared.messaging.consumer import ConsumerSpec
from shared.messaging.delivery import Effect

EFFECTS: dict[type[Event], Effect] = {
    SourceAccessed: apply_accesses,
    AnswerRated: apply_ratings,
    UsageRecorded: apply_usage,
    KnowledgeChanged: apply_knowledge_changes,
    SignalCanary: canary_effect("signal_worker"),
}

SIGNAL_CONSUMER = ConsumerSpec("signal_worker", SIGNAL_STREAM, tuple(EFFECTS))
