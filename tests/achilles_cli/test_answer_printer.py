"""What a document says must neither steer the terminal nor be changed by us."""

import io

import pytest
from rich.console import Console

from services.achilles_cli.answer_printer import AnswerPrinter
from services.achilles_cli.front_client import ChatAnswer, CitedSource

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def _printer() -> tuple[AnswerPrinter, io.StringIO]:
    output = io.StringIO()
    return AnswerPrinter(Console(file=output, width=10_000), quiet=False), output


def test_spaces_of_every_kind_stay_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    printer, _ = _printer()
    printer.text("in 2023\u00a015\u202f000 people\u3000第一\n")
    assert capsys.readouterr().out == "in 2023 15 000 people 第一\n"


@pytest.mark.parametrize("trick", ["\x1b[2J", "\x1b]0;title\x07", "\u202e", "\r", "\x9b2J"])
def test_control_characters_are_left_out_everywhere(capsys: pytest.CaptureFixture[str], trick: str) -> None:
    printer, output = _printer()
    printer.text(f"a{trick}b")
    printer.notice(f"a{trick}b")
    source = CitedSource(n=1, record_id="r", title=f"a{trick}b", url=f"http://x/{trick}", source_system=f"s{trick}")
    printer.finish(ChatAnswer(outcome="grounded", text="t", citations=[source]))
    assert trick[0] not in capsys.readouterr().out
    assert trick[0] not in output.getvalue()
