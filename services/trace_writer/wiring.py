"""Which event has which effect here."""

from services.trace_writer.storage.retrievals import apply_retrievals
from services.trace_writer.storage.runs import apply_runs
from shared.events import Event, ModelRunTraced, RetrievalTraced, TraceCanary
from shared.events.streams import TRACE_STREAM
from shared.messaging.canary import canary_effect
from shared.messaging.consumer import ConsumerSpec
from shared.messaging.delivery import Effect

EFFECTS: dict[type[Event], Effect] = {
    RetrievalTraced: apply_retrievals,
    ModelRunTraced: apply_runs,
    TraceCanary: canary_effect("trace_writer"),
}

TRACE_CONSUMER = ConsumerSpec("trace_writer", TRACE_STREAM, tuple(EFFECTS))
