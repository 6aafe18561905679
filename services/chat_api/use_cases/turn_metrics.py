"""Counts what turns tell their clients. Names and labels hold no content and no person."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from services.chat_api.domain.turn_events import (
    AnswerDelta,
    TurnEvent,
    TurnFailed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from services.chat_api.use_cases.running_turns import RunningTurns
from services.chat_api.use_cases.turn_under_way import Emit

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)


class TurnMetrics:
    """The figures of one front. `registry` is what its `/metrics` shows."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._started = Counter("achilles_turns_started", "Turns that began to stream", registry=self.registry)
        self._ended = Counter("achilles_turns_ended", "Turns by outcome", ["outcome"], registry=self.registry)
        self._failures = Counter("achilles_turn_failures", "Failed turns by code", ["code"], registry=self.registry)
        self._tokens = Counter("achilles_model_tokens", "Tokens of all model calls", ["kind"], registry=self.registry)
        self._first_text = Histogram(
            "achilles_turn_first_text_seconds",
            "From the start of a turn to its first released text",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._whole = Histogram(
            "achilles_turn_seconds", "From the start of a turn to its end", buckets=_SECONDS, registry=self.registry
        )

    def watch(self, running: RunningTurns) -> None:
        """Show how many turns run now."""
        gauge = Gauge("achilles_turns_running", "Turns that run in this process now", registry=self.registry)
        gauge.set_function(lambda: len(running.ids))

    def observing(self, emit: Emit) -> Emit:
        """The same `emit`, with every event counted as it passes."""
        observed = _ObservedTurn(self, emit)
        return observed.emit

    def started(self) -> None:
        self._started.inc()

    def first_text_after(self, seconds: float) -> None:
        self._first_text.observe(seconds)

    def ended(self, event: TurnFinished | TurnFailed | TurnInterrupted, seconds: float) -> None:
        self._whole.observe(seconds)
        match event:
            case TurnFinished():
                self._ended.labels(event.outcome).inc()
                if event.usage:
                    self._tokens.labels("input").inc(event.usage.input_tokens)
                    self._tokens.labels("output").inc(event.usage.output_tokens)
            case TurnFailed():
                self._ended.labels("failed").inc()
                self._failures.labels(event.code).inc()
            case TurnInterrupted():
                self._ended.labels("interrupted").inc()


class _ObservedTurn:
    def __init__(self, metrics: TurnMetrics, emit: Emit) -> None:
        self._metrics = metrics
        self._emit = emit
        self._began = time.monotonic()
        self._silent = True

    async def emit(self, event: TurnEvent) -> None:
        match event:
            case AnswerDelta():
                if self._silent:
                    self._silent = False
                    self._metrics.first_text_after(time.monotonic() - self._began)
            case TurnStarted():
                self._metrics.started()
            case TurnFinished() | TurnFailed() | TurnInterrupted():
                self._metrics.ended(event, time.monotonic() - self._began)
        await self._emit(event)
