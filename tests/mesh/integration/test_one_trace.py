"""One question, four processes, one trace: from the request to the row that a worker wrote."""

import json
from pathlib import Path

import pytest

from tests.support.otlp_receiver import ReceivedSpan
from tests.support.rows import Rows
from tests.support.waiting import eventually
from tests.support.watched import Watched

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-16")]
_TRACE, _CALLER = "5af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
_EVENT = "achilles.trace.v1.retrieved"
_WAY = (
    f"write {_EVENT}",
    f"process {_EVENT}",
    f"publish {_EVENT}",
    "store turn",
    "invoke_agent achilles",
    "POST /api/v1/chat",
)


async def test_a_turn_its_publish_and_its_write_are_one_trace(watched: Watched, tmp_path: Path) -> None:
    await watched.know_the_fact(tmp_path)
    async with watched.achilles.front.person() as anna:
        anna.client.headers["traceparent"] = f"00-{_TRACE}-{_CALLER}-01"
        answer = await anna.ask("How many quokka vouchers does a xylographer receive in May?")
    assert answer.outcome == "grounded"
    async with Rows.of(watched.achilles.servers.postgres.url) as rows:
        await rows.wait_for_empty_outbox()

    async def recorded() -> dict[str, ReceivedSpan]:
        return watched.collector.of_trace(_TRACE)

    spans = await eventually(recorded, until=lambda found: set(_WAY) <= {span.name for span in found.values()})
    assert _way_up(spans) == (*_WAY, _CALLER)
    assert {span.service for span in spans.values()} == {"chat_api", "knowledge_store", "signal_worker", "trace_writer"}
    _check_model_calls(spans)
    _check_search(spans)
    lines = [json.loads(line) for line in watched.log_of("chat_api").splitlines()]
    assert [line["event"] for line in lines if line.get("trace_id") == _TRACE and line["event"] == "turn_finished"]


def _way_up(spans: dict[str, ReceivedSpan]) -> tuple[str, ...]:
    """The names from the written row to the request, and the id of whoever sent that."""
    (span,) = (span for span in spans.values() if span.name == _WAY[0])
    way = [span.name]
    while span.parent_id in spans:
        span = spans[span.parent_id]
        way.append(span.name)
    return (*way, span.parent_id)


def _check_model_calls(spans: dict[str, ReceivedSpan]) -> None:
    calls = [span for span in spans.values() if span.name == "chat served-1"]
    assert [spans[call.parent_id].name for call in calls] == ["invoke_agent achilles"] * 2
    for call in calls:
        assert call.attributes["gen_ai.operation.name"] == "chat"
        assert call.attributes["gen_ai.request.model"] == "served-1"
        assert call.attributes["gen_ai.usage.input_tokens"] == 30
        assert call.attributes["gen_ai.usage.output_tokens"] == 5


def _check_search(spans: dict[str, ReceivedSpan]) -> None:
    (server,) = (span for span in spans.values() if span.name == "POST /v1/search")
    assert server.service == "knowledge_store"
    tool = spans[server.parent_id]
    assert (tool.name, tool.attributes["gen_ai.tool.name"]) == ("execute_tool search_knowledge", "search_knowledge")
    assert [span.name for span in spans.values() if span.parent_id == server.span_id] == ["retrieval"]
