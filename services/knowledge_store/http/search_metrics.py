"""What searches come to, as figures."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram

from shared.knowledge_contract import SearchResponse

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class SearchMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._searches = Counter("achilles_store_searches", "Searches by outcome", ["outcome"], registry=registry)
        self._faults = Counter("achilles_store_search_faults", "Searches that failed", ["error"], registry=registry)
        self._seconds = Histogram(
            "achilles_store_search_seconds", "One search that succeeded", buckets=_SECONDS, registry=registry
        )

    @contextmanager
    def searching(self) -> Iterator["Found"]:
        """Tell what was found with `outcome`; an exception counts as a fault."""
        began, found = time.monotonic(), Found()
        try:
            yield found
        except Exception as fault:
            self._faults.labels(type(fault).__name__).inc()
            raise
        self._seconds.observe(time.monotonic() - began)
        self._searches.labels(found.outcome).inc()


class Found:
    outcome = "unknown"

    def note(self, response: SearchResponse) -> None:
        self.outcome = response.outcome
