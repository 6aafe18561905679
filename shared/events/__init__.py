"""Every event that leaves the front, by subject."""

from shared.events.accessed import SourceAccessed
from shared.events.canary import CANARY_CLASSES, Canary, SignalCanary, TraceCanary
from shared.events.envelope import Event
from shared.events.knowledge import KnowledgeChanged
from shared.events.rated import AnswerRated
from shared.events.retrieved import RetrievalTraced
from shared.events.run import ModelRunTraced
from shared.events.usage import UsageRecorded

EVENT_CLASSES: tuple[type[Event], ...] = (
    SourceAccessed,
    AnswerRated,
    UsageRecorded,
    KnowledgeChanged,
    RetrievalTraced,
    ModelRunTraced,
    *CANARY_CLASSES,
)
EVENT_BY_SUBJECT: dict[str, type[Event]] = {cls.subject: cls for cls in EVENT_CLASSES}

__all__ = [
    "CANARY_CLASSES",
    "EVENT_BY_SUBJECT",
    "EVENT_CLASSES",
    "AnswerRated",
    "Canary",
    "Event",
    "KnowledgeChanged",
    "ModelRunTraced",
    "RetrievalTraced",
    "SignalCanary",
    "SourceAccessed",
    "TraceCanary",
    "UsageRecorded",
]
