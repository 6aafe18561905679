"""Every leg shows its figures, they move with what happens, and whatever is asked of them exists."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import nats
import pytest
import yaml

from tests.support.deployment import PROJECT
from tests.support.metric_names import asked_names, shown_names
from tests.support.waiting import eventually
from tests.support.watched import LEGS, Watched

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.req("MESH-16")]
_RUNBOOK = PROJECT / "docs" / "operations.md"
_ALERTS = PROJECT / "deploy" / "prometheus" / "alerts.yaml"
_DASHBOARD = PROJECT / "deploy" / "grafana" / "achilles.json"
# Prometheus' own series.
_OF_PROMETHEUS = {"up"}


async def _figure(watched: Watched, leg: str, series: str) -> float | None:
    """None where there is no such series yet."""
    found = re.search(rf"^{re.escape(series)} (\S+)$", await watched.scrape(leg), re.M)
    return float(found.group(1)) if found else None


async def _reaches(watched: Watched, leg: str, series: str, least: float) -> None:
    async def figure() -> float:
        return await _figure(watched, leg, series) or 0

    await eventually(figure, until=lambda value: value >= least, within=60)


async def test_the_figures_of_every_leg_move(watched: Watched, tmp_path: Path) -> None:
    await watched.know_the_fact(tmp_path)
    async with watched.achilles.front.person() as anna:
        await anna.ask("How many quokka vouchers does a xylographer receive in May?")
    client = await nats.connect(watched.achilles.servers.nats.url)
    await client.jetstream().publish(
        "achilles.signal.v1.rated", b"{}", headers={"ce-time": "2026-11-30T12:00:00+00:00"}
    )
    await client.close()
    applied = 'achilles_events_total{consumer="%s",result="applied",subject="%s"}'
    await _reaches(watched, "signal_worker", applied % ("signal_worker", "achilles.signal.v1.usage"), 1)
    await _reaches(watched, "signal_worker", applied % ("signal_worker", "achilles.signal.v1.canary"), 1)
    dead = 'achilles_events_total{consumer="signal_worker",result="dead_letter",subject="achilles.signal.v1.rated"}'
    await _reaches(watched, "signal_worker", dead, 1)
    await _reaches(watched, "trace_writer", applied % ("trace_writer", "achilles.trace.v1.retrieved"), 1)
    await _reaches(watched, "trace_writer", 'achilles_event_lag_seconds_count{consumer="trace_writer"}', 1)
    await _reaches(watched, "knowledge_store", applied % ("knowledge_store", "achilles.signal.v1.accessed"), 1)
    await _reaches(watched, "knowledge_store", 'achilles_store_searches_total{outcome="hits"}', 1)
    sent = 'achilles_relay_events_total{result="sent",subject="achilles.signal.v1.usage"}'
    await _reaches(watched, "chat_api", sent, 1)
    await _reaches(watched, "chat_api", "achilles_dead_letters", 1)
    await _reaches(watched, "chat_api", "achilles_loop_figures_readable", 1)
    age = await _figure(watched, "chat_api", 'achilles_canary_age_seconds{consumer="trace_writer"}')
    assert age is not None
    assert 0 <= age < 60
    for leg in ("signal_worker", "trace_writer", "knowledge_store"):
        assert await _figure(watched, leg, f'achilles_consumer_up{{consumer="{leg}"}}') == 1


@pytest.mark.parametrize("leg", LEGS)
async def test_figures_are_shown_to_whoever_has_the_token(watched: Watched, leg: str) -> None:
    async with httpx.AsyncClient(timeout=20) as client:
        refused = await client.get(f"{watched.achilles.url_of(leg)}/metrics", headers={"authorization": "Bearer no"})
    assert refused.status_code == 401
    assert f'service="{leg}"' in await watched.scrape(leg)


async def test_what_dashboard_and_alerts_ask_for_exists_and_is_explained(watched: Watched) -> None:
    shown = {name for leg in LEGS for name in shown_names(await watched.scrape(leg))} | _OF_PROMETHEUS
    dashboard = json.loads(_DASHBOARD.read_text(encoding="utf-8"))
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    expressions += [rule["expr"] for rule in _alerts()]
    assert len(expressions) > 40
    assert {name for expression in expressions for name in asked_names(expression)} - shown == set()
    ours = {re.sub(r"_(bucket|sum|count|total)$", "", name) for name in shown if name.startswith("achilles_")}
    explained = _RUNBOOK.read_text(encoding="utf-8")
    assert {name for name in ours if not name.endswith("_created") and f"`{name}" not in explained} == set()


def test_every_alert_has_a_page_of_the_runbook() -> None:
    headings = re.findall(r"^#+ (.+)$", _RUNBOOK.read_text(encoding="utf-8"), re.M)
    anchors = {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    for rule in _alerts():
        page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert (PROJECT / page) == _RUNBOOK
        assert anchor in anchors, rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical")


def test_every_panel_of_the_dashboard_stands_in_a_place_of_its_own() -> None:
    panels = json.loads(_DASHBOARD.read_text(encoding="utf-8"))["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert all(x < 24 for x, _ in cells)
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)


def _alerts() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(_ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]
