"""`achilles usage show` and `export`, as a person calls them, against a running front."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import pytest_asyncio

from tests.support.events import make_usage
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.scripted_model import ScriptedModel
from tests.support.usage_calls import record_calls_at

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_NOVEMBER = ("--from", "2026-11-01", "--to", "2026-11-30")


def _names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def _status_of(file: Path) -> os.stat_result:
    return file.stat()


def _rows_in(file: Path) -> int:
    if file.read_bytes()[:4] == b"PAR1":
        return int(pq.read_table(file).num_rows)
    return file.read_text().count("\n") - 1


@pytest_asyncio.fixture
async def front(database_url: str, nats_url: str, redis_url: str) -> AsyncIterator[RunningFront]:
    hostile = make_usage(user_id="hana", department="[red]=Ops[/red]", cost="0.0000000001", currency="USD")
    await record_calls_at(database_url, make_usage(), hostile)
    settings = make_front_settings(database_url, nats_url, redis_url, "http://127.0.0.1:1")
    async with running_front(settings, ScriptedModel()) as running:
        yield running


async def _call(url: str, *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.achilles_cli.main", "usage", *arguments, "--url", url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
    )
    output, errors = await asyncio.wait_for(process.communicate(), timeout=60)
    return process.returncode or 0, output.decode().strip(), errors.decode().strip()


@pytest.mark.req("MESH-13")
async def test_finance_sees_all_and_others_their_own(front: RunningFront) -> None:
    code, table, _ = await _call(front.url, "show", *_NOVEMBER, "--group-by", "department", "--as", "frank")
    assert code == 0
    assert "[red]=Ops[/red]" in table
    assert "0.0000000001 USD" in table
    assert "unknown" in table
    code, listed, _ = await _call(front.url, "show", *_NOVEMBER, "--group-by", "user", "--as", "hana", "--json")
    assert (code, [row["user"] for row in json.loads(listed)]) == (0, ["hana"])
    code, _, said = await _call(front.url, "show", *_NOVEMBER, "--user", "anna", "--as", "hana")
    assert (code, said) == (2, "error: You may see your own usage only")
    assert (await _call(front.url, "show", "--from", "2020-01-01", "--to", "2020-01-31"))[::2] == (
        0,
        "Nothing was used in this period.",
    )


@pytest.mark.req("MESH-13")
@pytest.mark.parametrize("export_format", ["csv", "parquet", "focus-csv", "focus-parquet"])
async def test_a_file_is_written_whole_and_for_its_owner_only(
    front: RunningFront, tmp_path: Path, export_format: str
) -> None:
    file = tmp_path / "usage.file"
    code, said, _ = await _call(
        front.url, "export", *_NOVEMBER, "--format", export_format, "-o", str(file), "--as", "frank", "--json"
    )
    assert code == 0
    written = _status_of(file)
    assert json.loads(said) == {"output": str(file), "format": export_format, "bytes": written.st_size}
    assert _names_in(tmp_path) == ["usage.file"]
    assert stat.S_IMODE(written.st_mode) == 0o600
    assert _rows_in(file) == 2


async def test_what_cannot_be_done_is_one_line_and_leaves_no_file(front: RunningFront, tmp_path: Path) -> None:
    file = tmp_path / "usage.csv"
    for wrong, code in (
        ((*_NOVEMBER, "--user", "hana", "--as", "anna", "-o", str(file)), 2),
        (("--from", "2026-12-01", "--to", "2026-11-30", "-o", str(file)), 2),
        ((*_NOVEMBER, "-o", str(tmp_path / "missing" / "usage.csv")), 2),
        ((*_NOVEMBER, "-o", str(tmp_path)), 2),
        (("--from", "yesterday", "-o", str(file)), 2),
    ):
        found, _, said = await _call(front.url, "export", *wrong)
        assert (found, said != "") == (code, True)
        assert "Traceback" not in said
        assert _names_in(tmp_path) == []
    assert (await _call("http://127.0.0.1:1", "export", "-o", str(file)))[0] == 3
    assert _names_in(tmp_path) == []
