"""The embedded answerer: how often it quotes what answers, and how often it rightly quotes nothing."""

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.quotes.articles import article_questions
from benchmarks.quotes.handbook import read_found, read_questions, search_handbook, write_found
from services.chat_api.domain.grounding.quotes import best_quotes
from services.chat_api.domain.passages import Passage
from tests.support.servers import running_servers

LANGUAGES = ("en", "ru", "de", "zh")
_COLUMNS = ("right", "first", "wrong", "wrongly refused", "rightly refused", "answered anyway")


class Tally:
    """What became of the questions; `first` counts the right ones whose first quotation holds the answer."""

    def __init__(self, name: str, *, shown: bool) -> None:
        self._name = name
        self._shown = shown
        self._counts: Counter[str] = Counter()
        self._seconds: list[float] = []

    def ask(self, question: str, answer: str, passages: Sequence[Passage]) -> None:
        best_quotes(question, passages)
        started = time.process_time()
        quotes = [" ".join(quote.text.split()) for quote in best_quotes(question, passages)]
        self._seconds.append(time.process_time() - started)
        verdict = judge(answer, quotes)
        self._counts[verdict] += 1
        self._counts["first"] += verdict == "right" and _holds(quotes[:1], answer)
        if self._shown and verdict in ("wrong", "wrongly refused", "answered anyway"):
            print(f"\n[{verdict}] {question} ({answer or 'no answer'})", *quotes, sep="\n    ")

    def row(self) -> str:
        milliseconds = sorted(1000 * second for second in self._seconds)
        middle, last = milliseconds[len(milliseconds) // 2], milliseconds[int(0.99 * len(milliseconds))]
        figures = "".join(f"{self._counts[column]:>{len(column) + 2}}" for column in _COLUMNS)
        return f"{self._name:<18}{figures}{middle:>9.2f}{last:>8.2f}"


def judge(answer: str, quotes: Sequence[str]) -> str:
    if not answer:
        return "answered anyway" if quotes else "rightly refused"
    if not quotes:
        return "wrongly refused"
    return "right" if _holds(quotes, answer) else "wrong"


def _holds(quotes: Iterable[str], answer: str) -> bool:
    return any(" ".join(answer.split()).casefold() in quote.casefold() for quote in quotes)


def measure_articles(languages: Sequence[str], per_passage: int, half: str, *, shown: bool) -> None:
    for language in languages:
        tally = Tally(f"xquad {language} {half}", shown=shown)
        for question in article_questions(language, per_passage, half):
            tally.ask(question.text, question.answer, question.passages)
        print(tally.row(), flush=True)


def measure_handbook(found: dict[str, list[Passage]], *, held: bool, shown: bool) -> None:
    tally = Tally(f"handbook {'held' if held else 'tuned'}", shown=shown)
    for question in read_questions():
        if question.held is held:
            tally.ask(question.text, question.answer, found[question.text])
    print(tally.row(), flush=True)


def find(file: Path | None) -> dict[str, list[Passage]]:
    if file is not None and file.exists():
        return read_found(file)
    with running_servers() as servers:
        found = asyncio.run(search_handbook(servers.database, [question.text for question in read_questions()]))
    if file is not None:
        write_found(found, file)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="The embedded answerer over XQuAD and the demo handbook")
    parser.add_argument("--languages", nargs="*", default=LANGUAGES, choices=LANGUAGES, help="of XQuAD")
    parser.add_argument("--per-passage", type=int, default=1, help="XQuAD questions asked per passage")
    parser.add_argument("--found", type=Path, help="keep here what the store found, and read it from here next time")
    parser.add_argument("--show", choices=("tuned", "held"), help="print the failures of one half")
    options = parser.parse_args()
    found = find(options.found)
    print(f"{'':<18}{''.join(f'  {column}' for column in _COLUMNS)}   ms p50     p99")
    for half in ("tuned", "held"):
        measure_handbook(found, held=half == "held", shown=options.show == half)
        measure_articles(options.languages, options.per_passage, half, shown=options.show == half)


if __name__ == "__main__":
    main()
