"""The store's own durable consumer of access signals."""

from services.knowledge_store.use_cases.count_accesses import AccessCounter, AccessDelivery
from shared.events.accessed import SourceAccessed
from shared.events.canary import SignalCanary
from shared.events.streams import SIGNAL_STREAM
from shared.knowledge_contract import STORE_CONSUMER
from shared.messaging.consumer import ConsumerSpec, DurableConsumer
from shared.messaging.consumer_metrics import ConsumerMetrics
from shared.settings import WorkerSettings

ACCESS_CONSUMER = ConsumerSpec(STORE_CONSUMER, SIGNAL_STREAM, (SourceAccessed, SignalCanary))


def make_access_consumer(
    database_url: str, nats_url: str, counter: AccessCounter, metrics: ConsumerMetrics | None
) -> DurableConsumer:
    settings = WorkerSettings.model_validate({"database_url": database_url, "nats_url": nats_url})
    return DurableConsumer(ACCESS_CONSUMER, AccessDelivery(counter), settings, metrics)
