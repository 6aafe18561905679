"""The grounding gate: true sentences dropped and false ones released, by class and language, and its cost.

Articles are split: the even ones are for tuning, the odd ones are held out and reported by default.
"""

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.gate.classes import Sample, SampleMaker
from benchmarks.gate.corpus import DATA, HALVES, LANGUAGES, Fusion, read_fusions, read_sections
from benchmarks.gate.fuzz import Fuzzer
from benchmarks.gate.handwritten import read_handwritten
from benchmarks.gate.report import print_outcomes, print_timings
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


def measure(limit: int, half: str, show: str) -> tuple[Tally, dict[str, list[float]]]:
    tally: Tally = defaultdict(lambda: defaultdict(list))
    timings: dict[str, list[float]] = defaultdict(list)
    for language in LANGUAGES:
        for sample in _samples(language, half, limit):
            SupportFinder(sample.question, sample.passages)
            passed, reasons = passes(sample, timings[language])
            tally[sample.kind, sample.true][language].append(passed != sample.true)
            if show in (sample.kind, f"{sample.kind}/{language}") and passed != sample.true:
                print(f"{language} {reasons or 'released'}: {sample.text}\n    Q {sample.question}")
    return tally, timings


def _samples(language: str, half: str, limit: int) -> Iterator[Sample]:
    yield from SampleMaker(language, read_sections(language, half)).samples(limit)
    yield from read_handwritten(language)


def print_halueval(limit: int) -> None:
    """Both as they are, and without the questions that "yes" or "no" answers: there is no word to check in those."""
    fusions = read_fusions()[:limit]
    for name, chosen in (
        ("all", fusions),
        ("without yes/no", [f for f in fusions if f.right.strip(". ").lower() not in ("yes", "no")]),
    ):
        right = statistics.mean(_fused_passes(fusion, fusion.right) for fusion in chosen)
        wrong = statistics.mean(_fused_passes(fusion, fusion.hallucinated) for fusion in chosen)
        plain_right = statistics.mean(_is_substring(fusion, fusion.right) for fusion in chosen)
        plain_wrong = statistics.mean(_is_substring(fusion, fusion.hallucinated) for fusion in chosen)
        print(
            f"HaluEval {name} ({len(chosen)}): right released {right:.1%} (target 98), hallucinated {wrong:.1%} (10);"
        )
        print(f"    substring search on the bare answers: {plain_right:.1%} and {plain_wrong:.1%}")


def _fused_passes(fusion: Fusion, answer: str) -> bool:
    text = f"{fusion.question.strip().rstrip('?. ')}: {answer.rstrip('.')}."
    return passes(Sample("halueval", True, fusion.question, (fusion.knowledge,), text, 1), [])[0]


def _is_substring(fusion: Fusion, answer: str) -> bool:
    return answer.strip(". ").lower() in fusion.knowledge.text.lower()


def print_fuzz(count: int, half: str) -> None:
    """`count` in all, shared among languages and kinds."""
    print("invented and fuzzed, released (target 0)")
    for language in LANGUAGES:
        results = Fuzzer(language, read_sections(language, half)).run(max(1, count // (4 * len(LANGUAGES))))
        print(f"  {language:<6}" + "  ".join(f"{kind} {r.released} of {r.tried}" for kind, r in results.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=150, help="sentences of each class and language")
    parser.add_argument("--half", choices=HALVES, default="held", help="which articles: tuned on, held out, all")
    parser.add_argument("--fuzz", type=int, default=10_000, help="invented numbers, dates, identifiers and units")
    parser.add_argument("--show", default="", help="print the misjudged sentences of this class (or class/language)")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"no data folder at {DATA}")
    tally, timings = measure(options.limit, options.half, options.show)
    print_outcomes(tally)
    print_timings(timings)
    if options.fuzz:
        print_fuzz(options.fuzz, options.half)
    print_halueval(options.limit * 4)
    if options.json:
        rows = [
            {"class": kind, "true": true, "language": language, "wrong": sum(results), "of": len(results)}
            for (kind, true), by_language in tally.items()
            for language, results in by_language.items()
        ]
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
