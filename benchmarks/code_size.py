"""Lengths of files and functions, and comments, against where docs/spec/style.md wants to land."""

import ast
import statistics
import tokenize
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_AIMS = {"file": (120, 300), "function": (10, 40)}


def _percentile(values: list[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _functions(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def _comments(file: Path) -> int:
    with file.open("rb") as source:
        return sum(token.type == tokenize.COMMENT for token in tokenize.tokenize(source.readline))


def _row(name: str, kind: str, lengths: list[int]) -> str:
    median, p95 = statistics.median(lengths), _percentile(lengths, 0.95)
    aim_median, aim_p95 = _AIMS[kind]
    return (
        f"{name:<12} {kind:<9} {len(lengths):>5}  median {median:>5.0f} (≤ {aim_median})   "
        f"p95 {p95:>4} (≤ {aim_p95})   longest {max(lengths)}"
    )


def main() -> None:
    for name in ("services", "shared", "tests", "benchmarks"):
        files = [file for file in (_ROOT / name).rglob("*.py") if file.stat().st_size]
        sizes = [len(file.read_text(encoding="utf-8").splitlines()) for file in files]
        lengths = [length for file in files for length in _functions(ast.parse(file.read_text(encoding="utf-8")))]
        comments = 100 * sum(_comments(file) for file in files) / sum(sizes)
        print(_row(name, "file", sizes))
        print(_row(name, "function", lengths), f"  comments per 100 lines {comments:.1f}")


if __name__ == "__main__":
    main()
