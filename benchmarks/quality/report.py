"""What was measured: one finding a row and language, a table of them, and the worst cases of each row."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "ru", "de", "zh")
_WORST = 10


@dataclass(frozen=True, slots=True)
class Case:
    """One try. `counted` is what the row counts, good or bad; `severity` orders the cases that are written out."""

    counted: bool
    question: str
    said: str
    shown: str = ""
    why: str = ""
    severity: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """`at_most` tells whether `target` (a share, 0..1) is a ceiling or a floor; None where nothing is promised."""

    id: str
    name: str
    target: float | None = None
    at_most: bool = True

    def keeps(self, share: float) -> bool | None:
        if self.target is None:
            return None
        return share <= self.target if self.at_most else share >= self.target

    @property
    def bound(self) -> str:
        return "" if self.target is None else f"{'≤' if self.at_most else '≥'} {100 * self.target:g}"


@dataclass(frozen=True, slots=True)
class Finding:
    """`language` is "all" for data of one language or none."""

    row: Row
    language: str
    cases: Sequence[Case]

    @property
    def counted(self) -> int:
        return sum(case.counted for case in self.cases)

    @property
    def share(self) -> float:
        return self.counted / len(self.cases) if self.cases else 0.0


def format_table(findings: Iterable[Finding]) -> str:
    """Percent (number of tries) of each row in each language, its target beside; `!` marks what misses it."""
    by_row: dict[Row, dict[str, Finding]] = defaultdict(dict)
    for finding in findings:
        by_row[finding.row][finding.language] = finding
    columns = (*LANGUAGES, "all")
    lines = [f"{'%':<58}{'target':>8}" + "".join(f"{column:>14}" for column in columns)]
    for row, found in by_row.items():
        cells = "".join(f"{_cell(found.get(column)):>14}" for column in columns)
        lines.append(f"{row.id:<10}{row.name:<48}{row.bound:>8}{cells}")
    return "\n".join(lines)


def _cell(finding: Finding | None) -> str:
    if finding is None or not finding.cases:
        return ""
    miss = "!" if finding.row.keeps(finding.share) is False else ""
    return f"{miss}{100 * finding.share:.1f} ({len(finding.cases)})"


def write_json(path: Path, findings: Iterable[Finding]) -> None:
    rows = [
        {
            "row": one.row.id,
            "name": one.row.name,
            "language": one.language,
            "counted": one.counted,
            "of": len(one.cases),
            "share": round(one.share, 4),
            "target": one.row.target,
            "kept": one.row.keeps(one.share),
        }
        for one in findings
    ]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_worst(path: Path, findings: Iterable[Finding]) -> None:
    """The ten worst cases of each row and language: those counted against a ceiling, or missing from a floor."""
    with path.open("w", encoding="utf-8") as file:
        for finding in findings:
            bad = [case for case in finding.cases if case.counted == finding.row.at_most]
            worst = sorted(bad, key=lambda case: -case.severity)[:_WORST]
            if not worst:
                continue
            file.write(f"## {finding.row.id} {finding.row.name}, {finding.language}: {len(bad)} cases\n\n")
            for case in worst:
                file.write(
                    f"- asked: {_line(case.question)}\n  said: {_line(case.said)}\n  shown: {_line(case.shown)}\n"
                )
                file.write(f"  why: {case.why}\n")
            file.write("\n")


def _line(text: str) -> str:
    return " ".join(text.split())
