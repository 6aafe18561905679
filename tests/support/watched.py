"""Achilles as processes of their own, watched as an operator would: a collector, scraped figures, logs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.deployment import Deployment, running_deployment
from tests.support.otlp_receiver import OtlpReceiver, receiving_spans
from tests.support.threaded_model import threaded_model

LEGS = ("chat_api", "knowledge_store", "signal_worker", "trace_writer")
METRICS_TOKEN = "marked-metrics-token"
MODEL_KEY = "marked-model-key"
MODEL_FAULT = "marked-fault-of-the-provider"
# Said by the document, and by the model that answers from it.
FACT = "Every xylographer of Halden receives seventeen quokka vouchers in May."


@dataclass(frozen=True, slots=True)
class Watched:
    achilles: Deployment
    collector: OtlpReceiver

    async def know_the_fact(self, folder: Path) -> None:
        (folder / "vouchers.md").write_text(f"# Vouchers\n\n{FACT}\n", encoding="utf-8")
        (folder / "_access.yaml").write_text("access: {groups: [staff]}\nsource_system: Handbook\n", encoding="utf-8")
        await self.achilles.ingest(folder)

    async def scrape(self, leg: str) -> str:
        headers = {"authorization": f"Bearer {METRICS_TOKEN}"}
        async with httpx.AsyncClient(timeout=20) as client:
            response = await client.get(f"{self.achilles.url_of(leg)}/metrics", headers=headers)
        response.raise_for_status()
        return response.text

    def log_of(self, leg: str) -> str:
        return (self.achilles.logs / f"{leg}.log").read_text(encoding="utf-8")


@contextmanager
def watching() -> Iterator[Watched]:
    """A sharp ear: everything that is logged at all is, and every span is sent at once."""
    with (
        receiving_spans() as collector,
        threaded_model(f"{FACT} [1]", fault=MODEL_FAULT) as model_url,
        running_deployment(
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_BSP_SCHEDULE_DELAY="200",
            ACHILLES_METRICS_TOKEN=METRICS_TOKEN,
            ACHILLES_MODEL_BASE_URL=model_url,
            ACHILLES_MODEL_API_KEY=MODEL_KEY,
            ACHILLES_MODEL="served-1",
            ACHILLES_CANARY_EVERY="1",
            ACHILLES_LOG_LEVEL="DEBUG",
        ) as achilles,
    ):
        yield Watched(achilles, collector)
