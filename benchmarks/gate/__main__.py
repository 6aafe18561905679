"""The grounding gate: true sentences dropped and false ones released, by class and language, and its cost."""

import argparse
import json
import statistics
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.gate.classes import Sample, SampleMaker
from benchmarks.gate.corpus import DATA, LANGUAGES, read_fusions, read_sections
from services.chat_api.domain.grounding.gate import GroundingGate
from services.chat_api.domain.grounding.support import SupportFinder

Tally = dict[tuple[str, bool], dict[str, list[bool]]]


def passes(sample: Sample, timings: list[float]) -> tuple[bool, str]:
    gate = GroundingGate(sample.question, sample.passages)
    marker = "" if sample.cited is None else f" [{sample.cited}]"
    started = time.thread_time()
    released = gate.feed(sample.text.strip() + marker) + gate.finish()
    timings.append(time.thread_time() - started)
    reasons = ",".join(rejection.reason for rejection in gate.rejections)
    return bool(released) and not gate.rejections, reasons


def measure(limit: int, show: str) -> tuple[Tally, dict[str, list[float]]]:
    tally: Tally = defaultdict(lambda: defaultdict(list))
    timings: dict[str, list[float]] = defaultdict(list)
    for language in LANGUAGES:
        for sample in SampleMaker(language, read_sections(language)).samples(limit):
            SupportFinder(sample.question, sample.passages)
            passed, reasons = passes(sample, timings[language])
            tally[sample.kind, sample.true][language].append(passed != sample.true)
            if show in (sample.kind, f"{sample.kind}/{language}") and passed != sample.true:
                print(f"{language} {reasons or 'released'}: {sample.text}\n    Q {sample.question}")
    return tally, timings


def measure_halueval(limit: int) -> tuple[float, float]:
    right: list[bool] = []
    hallucinated: list[bool] = []
    for fusion in read_fusions()[:limit]:
        for answer, results in ((fusion.right, right), (fusion.hallucinated, hallucinated)):
            text = f"{fusion.question.strip().rstrip('?. ')}: {answer.rstrip('.')}."
            sample = Sample("halueval", True, fusion.question, (fusion.knowledge,), text, 1)
            results.append(passes(sample, [])[0])
    return statistics.mean(right), statistics.mean(hallucinated)


def print_table(tally: Tally, timings: dict[str, list[float]]) -> None:
    print(f"{'class':<24}" + "".join(f"{language:>12}" for language in LANGUAGES))
    for true in (True, False):
        print("true, dropped %" if true else "false, released %")
        for (kind, kind_true), by_language in tally.items():
            if kind_true is true:
                cells = (by_language.get(language, []) for language in LANGUAGES)
                print(
                    f"  {kind:<22}"
                    + "".join(f"{100 * statistics.mean(c):>6.1f} ({len(c):>3})" if c else f"{'-':>12}" for c in cells)
                )
    print("time a sentence, ms")
    for name, pick in (("mean", statistics.mean), ("p99", lambda values: sorted(values)[int(len(values) * 0.99)])):
        print(f"  {name:<22}" + "".join(f"{1000 * pick(timings[language]):>12.3f}" for language in LANGUAGES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=150, help="sentences of each class and language")
    parser.add_argument("--show", default="", help="print the misjudged sentences of this class (or class/language)")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"no data folder at {DATA}")
    tally, timings = measure(options.limit, options.show)
    print_table(tally, timings)
    right, hallucinated = measure_halueval(options.limit * 3)
    print(f"HaluEval, question and answer fused: right released {right:.1%}, hallucinated released {hallucinated:.1%}")
    if options.json:
        rows = [
            {"class": kind, "true": true, "language": language, "wrong": sum(results), "of": len(results)}
            for (kind, true), by_language in tally.items()
            for language, results in by_language.items()
        ]
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
