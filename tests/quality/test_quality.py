"""The quality benchmark on small samples: what it promises without exception holds, and it measures all of it."""

import pytest

from benchmarks.gate.__main__ import measure as measure_gate
from benchmarks.gate.corpus import DATA
from benchmarks.gate.report import TARGETS
from benchmarks.quality.faithful import measure_faithful
from benchmarks.quality.lying import measure_lies
from benchmarks.quality.planted import measure_planted
from benchmarks.quality.report import LANGUAGES, Finding
from benchmarks.quality.stored import measure_store
from tests.support.servers import ServerUrls

needs_data = pytest.mark.skipif(not DATA.exists(), reason="the public data sets are not beside the project")


def _missed(findings: list[Finding]) -> list[str]:
    """Rows that miss their target, each with its first case."""
    return [
        f"{one.row.id} {one.row.name} {one.language}: {one.share:.3f}, {next(c.said for c in one.cases if c.counted)}"
        for one in findings
        if one.row.keeps(one.share) is False
    ]


@needs_data
@pytest.mark.unit
@pytest.mark.p1
@pytest.mark.req("QUAL-0")
def test_the_gates_table_has_every_class_in_every_language_and_its_absolute_ones_hold() -> None:
    tally, timings = measure_gate(3, "held", "")
    assert set(TARGETS) <= set(tally)
    for kind in (key for key, target in TARGETS.items() if target == "0"):
        assert {language: any(found) for language, found in tally[kind].items()} == dict.fromkeys(LANGUAGES, False)
    assert all(timings[language] for language in LANGUAGES)


@needs_data
@pytest.mark.unit
@pytest.mark.p1
@pytest.mark.req("QUAL-2")
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_faithful_model_loses_next_to_nothing(language: str) -> None:
    findings = await measure_faithful(language, 30)
    assert all(len(finding.cases) >= 30 for finding in findings)
    assert _missed(findings) == []


@needs_data
@pytest.mark.unit
@pytest.mark.p1
@pytest.mark.req("QUAL-5")
@pytest.mark.parametrize("language", LANGUAGES)
async def test_no_planted_instruction_is_carried_out(language: str) -> None:
    findings = await measure_planted(language, 1)
    assert all(finding.cases for finding in findings)
    assert _missed(findings) == []


@needs_data
@pytest.mark.unit
@pytest.mark.p1
@pytest.mark.req("QUAL-1")
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_lying_model_gets_no_number_name_date_or_identifier_through(language: str) -> None:
    findings = await measure_lies(language, 500)
    assert all(len(finding.cases) >= 300 for finding in findings)
    assert _missed(findings) == []


@needs_data
@pytest.mark.integration
@pytest.mark.p1
@pytest.mark.req("QUAL-4", "QUAL-6")
async def test_the_embedded_answerer_and_store_keep_their_shares(servers: ServerUrls) -> None:
    findings = await measure_store(servers.database, ("en",), 30)
    assert {finding.row.id for finding in findings} == {"QUAL-4", "QUAL-6"}
    assert _missed(findings) == []
