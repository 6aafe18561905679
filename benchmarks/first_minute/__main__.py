"""From an empty data folder to a cited answer: start, time to first text, rate of ingest."""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

_QUESTIONS = (
    "How many days of annual leave do I have?",
    "Wie viele Urlaubstage habe ich?",
    "What is the daily allowance in Germany?",
    "How long must my password be?",
)
_XQUAD = Path(__file__).parents[3] / "shared" / "data" / "xquad" / "xquad.en.half.json"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _achilles(*arguments: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "services.achilles_cli.main", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _start(environment: dict[str, str]) -> tuple[subprocess.Popen[str], float]:
    started = time.monotonic()
    process = _achilles("up", "--json", environment=environment)
    assert process.stdout is not None
    if not process.stdout.readline():
        raise SystemExit(process.communicate()[1])
    return process, time.monotonic() - started


def _stop(process: subprocess.Popen[str]) -> float:
    started = time.monotonic()
    process.terminate()
    process.wait(60)
    return time.monotonic() - started


def _first_text(client: httpx.Client, question: str) -> tuple[float, float]:
    """Seconds to the first released text and to the end of the stream."""
    started = time.monotonic()
    first = 0.0
    with client.stream("POST", "/api/v1/chat", json={"message": question}) as response:
        for line in response.iter_lines():
            if not first and '"text-delta"' in line:
                first = time.monotonic() - started
    return first, time.monotonic() - started


def _ask(url: str, rounds: int) -> tuple[list[float], list[float], list[float]]:
    with httpx.Client(base_url=url, timeout=60) as client:
        client.post("/api/v1/session", json={"user_id": "anna"}).raise_for_status()
        floor = []
        for _ in range(rounds):
            started = time.monotonic()
            client.get("/livez")
            floor.append(time.monotonic() - started)
        pairs = [_first_text(client, question) for _ in range(rounds) for question in _QUESTIONS]
    return floor, [first for first, _ in pairs], [whole for _, whole in pairs]


def _write_passages(folder: Path, count: int) -> int:
    data = json.loads(_XQUAD.read_text(encoding="utf-8"))["data"]
    passages = [paragraph["context"] for article in data for paragraph in article["paragraphs"]][:count]
    for at, text in enumerate(passages):
        (folder / f"{at}.md").write_text(text, encoding="utf-8")
    return len(passages)


def _ingest(environment: dict[str, str], count: int) -> str:
    if not _XQUAD.exists():
        return "not measured: ../shared/data/xquad is not here"
    with tempfile.TemporaryDirectory() as folder:
        written = _write_passages(Path(folder), count)
        started = time.monotonic()
        process = _achilles("ingest", folder, "--json", environment=environment)
        output, errors = process.communicate()
        seconds = time.monotonic() - started
    if process.returncode != 0:
        return f"failed: {errors.strip().splitlines()[-1]}"
    chunks = json.loads(output.splitlines()[-1])["chunks_embedded"]
    return f"{written} passages, {chunks} chunks in {seconds:.1f} s: {chunks / seconds:.1f} chunks/s"


def _row(name: str, values: list[float], floor: float) -> str:
    p50, worst = statistics.median(values), max(values)
    return f"{name:<28} p50 {1000 * p50:7.1f} ms   max {1000 * worst:7.1f} ms   {p50 / floor:6.1f} × floor"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of four questions")
    parser.add_argument("--passages", type=int, default=40, help="passages to ingest")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="achilles-bench-")
    port = _free_port()
    environment = {**os.environ, "ACHILLES_DATA_DIR": folder, "ACHILLES_PORT": str(port)}
    try:
        process, cold = _start(environment)
        try:
            floor, first, whole = _ask(f"http://127.0.0.1:{port}", options.rounds)
            rate = _ingest(environment, options.passages)
        finally:
            stopped = _stop(process)
        process, warm = _start(environment)
        _stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{'first start, with the demo':<28} {cold:7.1f} s")
    print(f"{'second start':<28} {warm:7.1f} s   {warm / cold:.2f} × the first")
    print(f"{'stop':<28} {stopped:7.1f} s")
    print(_row("floor: GET /livez", floor, statistics.median(floor)))
    print(_row("first text of an answer", first, statistics.median(floor)))
    print(_row("whole answer", whole, statistics.median(floor)))
    print(f"{'ingest':<28} {rate}")


if __name__ == "__main__":
    main()
