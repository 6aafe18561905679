"""Quality on public data: lies released, truth dropped, planted instructions obeyed, questions refused or missed."""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.gate.corpus import DATA
from benchmarks.quality.crossing import measure_crossing
from benchmarks.quality.faithful import measure_faithful, measure_sloppy
from benchmarks.quality.halueval import measure_halueval
from benchmarks.quality.live import Endpoint, judging_with, measure_live, opened
from benchmarks.quality.lying import measure_lies
from benchmarks.quality.planted import measure_planted
from benchmarks.quality.report import LANGUAGES, Finding, format_table, write_json, write_worst
from benchmarks.quality.stored import measure_store
from tests.support.servers import running_servers

_PARTS = ("gate", "lies", "faithful", "sloppy", "crossing", "halueval", "planted", "store", "live")
_GATE_SENTENCES = 150
_LIVE_QUESTIONS = 20
_PLANTED_PER_KIND = 100


@dataclass(frozen=True, slots=True)
class Options:
    limit: int
    only: tuple[str, ...]
    languages: tuple[str, ...]
    out: Path
    endpoint: Endpoint | None

    def wants(self, part: str) -> bool:
        return part in self.only


async def measure(options: Options) -> list[Finding]:
    findings: list[Finding] = []
    for part, work in _SCRIPTED.items():
        if options.wants(part):
            for language in options.languages:
                findings += await _timed(f"{part} {language}", work, language, options.limit)
    if options.wants("halueval"):
        findings += await measure_halueval(options.limit)
    if options.endpoint:
        findings += await _measure_live(options, options.endpoint)
    return findings


async def _sloppy(language: str, limit: int) -> list[Finding]:
    return [await measure_sloppy(language, limit)]


async def _crossing(language: str, limit: int) -> list[Finding]:
    return measure_crossing(language, limit)


async def _planted(language: str, limit: int) -> list[Finding]:
    return await measure_planted(language, max(1, min(5, limit // _PLANTED_PER_KIND)))


_SCRIPTED: dict[str, Callable[[str, int], Awaitable[list[Finding]]]] = {
    "lies": measure_lies,
    "faithful": measure_faithful,
    "sloppy": _sloppy,
    "crossing": _crossing,
    "planted": _planted,
}


async def _timed(
    name: str, work: Callable[[str, int], Awaitable[list[Finding]]], language: str, limit: int
) -> list[Finding]:
    started = time.perf_counter()
    found = await work(language, limit)
    print(f"  {name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    return found


async def _measure_live(options: Options, endpoint: Endpoint) -> list[Finding]:
    findings: list[Finding] = []
    at_most = min(options.limit, _LIVE_QUESTIONS)
    async with opened(endpoint) as client:
        if options.wants("live"):
            for language in options.languages:
                findings += await measure_live(client, endpoint, language, at_most)
        if options.wants("halueval"):
            findings += await measure_halueval(options.limit, judging_with(client, endpoint))
    return findings


def _print_gate_table(options: Options) -> None:
    """QUAL-0 is the gate's own benchmark, run as it is."""
    command = [sys.executable, "-m", "benchmarks.gate", "--limit", str(min(options.limit, _GATE_SENTENCES))]
    subprocess.run([*command, "--json", str(options.out / "gate.json")], check=True)


def _read_options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=500, help="turns or questions of each row and language")
    parser.add_argument("--only", default=",".join(_PARTS), help=f"parts, separated by commas: {', '.join(_PARTS)}")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="which of them, separated by commas")
    parser.add_argument("--out", type=Path, default=Path("build/quality"), help="folder for quality.json and worst.md")
    parser.add_argument("--endpoint", default="", help="OpenAI-compatible endpoint; it answers, and judges HaluEval")
    parser.add_argument("--model", default="", help="its model; the key is read from ACHILLES_MODEL_API_KEY")
    told = parser.parse_args()
    only = tuple(part.strip() for part in told.only.split(","))
    if unknown := set(only) - set(_PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")
    languages = tuple(code.strip() for code in told.languages.split(","))
    if unknown := set(languages) - set(LANGUAGES):
        parser.error(f"unknown languages: {', '.join(sorted(unknown))}")
    if told.limit < 1:
        parser.error("--limit must be at least 1")
    if bool(told.endpoint) != bool(told.model):
        parser.error("--endpoint and --model go together")
    if not DATA.is_dir():
        parser.exit(1, f"the public test data is not at {DATA}\n")
    endpoint = Endpoint(told.endpoint, told.model) if told.endpoint else None
    return Options(told.limit, only, languages, told.out, endpoint)


def main() -> None:
    options = _read_options()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.wants("gate"):
        print("QUAL-0, the gate's own table\n", flush=True)
        _print_gate_table(options)
    findings = asyncio.run(measure(options))
    if options.wants("store"):
        with running_servers() as servers:
            findings += asyncio.run(measure_store(servers.database, options.languages, options.limit))
    print(f"\n{format_table(findings)}\n")
    write_json(options.out / "quality.json", findings)
    write_worst(options.out / "worst.md", findings)
    print(f"`!` misses its target. Figures: {options.out / 'quality.json'}, worst cases: {options.out / 'worst.md'}")


if __name__ == "__main__":
    main()
