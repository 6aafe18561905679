"""The figures behind the loop's health, read from the database when they are asked for."""

import asyncio
import logging
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Gauge
from sqlalchemy.ext.asyncio import AsyncEngine

from shared.messaging.loop_health import LoopFigures, read_figures

logger = logging.getLogger(__name__)
_READ_SECONDS = 2.0
_UNKNOWN = float("nan")


class LoopMetrics:
    """`consumers` are those whose canaries are shown, each with its stream. What cannot be read is no figure (NaN),
    never nought."""

    def __init__(self, engine: AsyncEngine, consumers: Mapping[str, str], registry: CollectorRegistry) -> None:
        self._engine = engine
        self._consumers = consumers
        self._readable = Gauge(
            "achilles_loop_figures_readable", "1 if the figures of the loop could be read", registry=registry
        )
        self._rows = Gauge("achilles_outbox_rows", "Events whose effect is not yet written", registry=registry)
        self._oldest = Gauge(
            "achilles_outbox_oldest_seconds", "Age of the oldest of them; 0 without any", registry=registry
        )
        self._letters = Gauge("achilles_dead_letters", "Events that were set aside", registry=registry)
        self._sent = Gauge(
            "achilles_canary_sent_age_seconds", "Age of the newest canary sent", ["stream"], registry=registry
        )
        self._canary = Gauge(
            "achilles_canary_age_seconds", "Age of the newest canary that was applied", ["consumer"], registry=registry
        )

    async def refresh(self) -> None:
        """Bounded, and raises nothing."""
        try:
            async with asyncio.timeout(_READ_SECONDS), self._engine.connect() as connection:
                figures = await read_figures(connection)
        except Exception as fault:  # noqa: BLE001 (the other figures are shown all the same)
            logger.warning("loop_figures_unreadable", extra={"error": type(fault).__name__})
            self._forget()
            return
        self._show(figures)

    def _show(self, figures: LoopFigures) -> None:
        self._readable.set(1)
        self._rows.set(figures.outbox_rows)
        self._oldest.set((figures.now - figures.outbox_oldest).total_seconds() if figures.outbox_oldest else 0)
        self._letters.set(figures.dead_letters)
        for consumer, stream in self._consumers.items():
            sent, applied = figures.sent.get(stream), figures.applied.get(consumer)
            self._sent.labels(stream).set((figures.now - sent).total_seconds() if sent else _UNKNOWN)
            self._canary.labels(consumer).set((figures.now - applied).total_seconds() if applied else _UNKNOWN)

    def _forget(self) -> None:
        self._readable.set(0)
        for figure in (self._rows, self._oldest, self._letters):
            figure.set(_UNKNOWN)
        for consumer, stream in self._consumers.items():
            self._sent.labels(stream).set(_UNKNOWN)
            self._canary.labels(consumer).set(_UNKNOWN)
