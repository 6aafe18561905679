"""The figures as tables, each row with its target beside."""

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.gate.corpus import LANGUAGES

Outcomes = Mapping[tuple[str, bool], Mapping[str, Sequence[bool]]]

# Percent at most (gate.md); a row without a target is reported only.
TARGETS = {
    ("verbatim", True): "3", ("unmarked", True): "3", ("shortened", True): "3", ("formats", True): "3",
    ("merged", True): "3", ("fused", True): "10", ("handwritten", True): "10", ("number changed", False): "0",
    ("number same passage", False): "5", ("name elsewhere", False): "0/0/1/5", ("name same passage", False): "10",
    ("names exchanged", False): "20", ("unit", False): "5", ("negation added", False): "5",
    ("negation dropped", False): "5", ("polarity", False): "5", ("wrong citation", False): "1",
    ("invented", False): "1", ("half true", False): "1", ("fused wrong", False): "30", ("stitched", False): "20",
    ("handwritten", False): "15",
}  # fmt: skip


def print_outcomes(outcomes: Outcomes) -> None:
    print(f"{'class':<24}" + "".join(f"{language:>13}" for language in LANGUAGES) + f"{'target':>10}")
    for true in (True, False):
        print("true, dropped %" if true else "false, released %")
        for (kind, kind_true), by_language in outcomes.items():
            if kind_true is true:
                cells = "".join(_cell(by_language.get(language, ())) for language in LANGUAGES)
                print(f"  {kind:<22}{cells}{TARGETS.get((kind, true), '-'):>10}")


def _cell(results: Sequence[bool]) -> str:
    return f"{100 * statistics.mean(results):>6.1f} ({len(results):>4})" if results else f"{'-':>13}"


def print_timings(timings: Mapping[str, Sequence[float]]) -> None:
    print("CPU time a sentence, ms")
    targets = {"mean": "0.15", "p50": "-", "p99": "0.3"}
    for name, share in (("mean", None), ("p50", 0.5), ("p99", 0.99)):
        cells = "".join(f"{1000 * _pick(timings[language], share):>13.3f}" for language in LANGUAGES)
        print(f"  {name:<22}{cells}{targets[name]:>10}")


def _pick(values: Sequence[float], share: float | None) -> float:
    return statistics.mean(values) if share is None else sorted(values)[int(len(values) * share)]
