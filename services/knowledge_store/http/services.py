"""What the routes call."""

from dataclasses import dataclass

from services.knowledge_store.http.search_metrics import SearchMetrics
from services.knowledge_store.use_cases.read_record import RecordService
from services.knowledge_store.use_cases.read_status import StatusService
from services.knowledge_store.use_cases.search_knowledge import SearchService
from shared.health import Check


@dataclass(frozen=True, slots=True)
class Services:
    """`checks` is what readiness depends on; the bus is not among it."""

    search: SearchService
    record: RecordService
    status: StatusService
    checks: dict[str, Check]
    search_metrics: SearchMetrics
