"""One table, and the same as JSON."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """`figure` is compared with `target`, which it may at most reach, or must `at_least`; without one it only stands
    beside the others."""

    requirement: str
    work: str
    figure: float
    unit: str
    target: float | None = None
    beside: str = ""
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        met = self.figure >= self.target if self.at_least else self.figure <= self.target
        return "met" if met else "NOT MET"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values: Sequence[float], unit: str) -> str:
    """For the column beside: the least and the median of several rounds."""
    return f"least {min(values):.2f}, median {statistics.median(values):.2f} {unit}"


def format_row(row: Row) -> str:
    target = "" if row.target is None else f"{'≥' if row.at_least else '≤'} {row.target:g}"
    figure = f"{row.figure:9.2f} {row.unit}"
    return f"{row.requirement:<7} {row.work:<58} {figure:<18} {target:<7} {row.verdict:<8} {row.beside}".rstrip()


def write_json(rows: Sequence[Row], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    body = [{**asdict(row), "verdict": row.verdict} for row in rows]
    target.write_text(json.dumps(body, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
