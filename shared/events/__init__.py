"""Every event that leaves the front, by subject."""

from shared.events.accessed import SourceAccessed
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
)
EVENT_BY_SUBJECT: dict[str, type[Event]] = {cls.subject: cls for cls in EVENT_CLASSES}

__all__ = [
    "EVENT_BY_SUBJECT",
    "EVENT_CLASSES",
    "AnswerRated",
    "Event",
    "KnowledgeChanged",
    "ModelRunTraced",
    "RetrievalTraced",
    "SourceAccessed",
    "UsageRecorded",
]
