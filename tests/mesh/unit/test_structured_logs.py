"""A log line is JSON with names and figures. What people wrote, and what a library was given, is in none."""

import json
import logging
import sys
import warnings

import pytest

from shared.telemetry import JsonFormatter, configure_logging

pytestmark = [pytest.mark.unit, pytest.mark.p1, pytest.mark.req("MESH-16")]
_SECRET = "zanzibar"


def _line(name: str, msg: object, *args: object, **more: object) -> dict[str, object]:
    record = logging.LogRecord(name, logging.ERROR, "here.py", 1, str(msg), args, None)
    vars(record).update(more)
    text = JsonFormatter("chat_api").format(record)
    assert "\n" not in text
    parsed: dict[str, object] = json.loads(text)
    return parsed


def test_our_own_lines_say_what_they_were_given() -> None:
    line = _line("services.chat_api.x", "turn_finished", outcome="grounded", count=3)
    assert (line["event"], line["outcome"], line["count"]) == ("turn_finished", "grounded", 3)


def test_a_librarys_line_keeps_its_template_and_loses_its_values() -> None:
    line = _line("aiohttp.client", "cannot parse %r", _SECRET, detail=_SECRET)
    assert line["event"] == "cannot parse %r"
    assert _SECRET not in json.dumps(line)


def test_what_asyncio_tells_of_a_task_is_cut_after_its_first_line() -> None:
    line = _line("asyncio", f"Task exception was never retrieved\nfuture: <Task exception=ValueError('{_SECRET}')>")
    assert line["event"] == "Task exception was never retrieved"


def test_a_traceback_that_comes_as_text_is_only_its_class() -> None:
    text = f"Traceback (most recent call last):\n  File x\nValueError: {_SECRET}\n"
    assert _line("uvicorn.error", text)["event"] == "ValueError"


def test_an_exception_is_its_class_and_where_it_was_raised() -> None:
    try:
        raise ValueError(_SECRET)
    except ValueError:
        line = _line("services.chat_api.x", "request_failed", exc_info=sys.exc_info())
    assert line["error"] == "ValueError"
    assert str(line["where"]).startswith("['test_structured_logs.py:")
    assert _SECRET not in json.dumps(line)


def test_an_object_is_its_class() -> None:
    assert _line("services.chat_api.x", "odd", about=ValueError(_SECRET))["about"] == "ValueError"


def test_warnings_and_uncaught_exceptions_are_lines_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, name in ((sys, "excepthook"), (warnings, "showwarning")):
        monkeypatch.setattr(place, name, getattr(place, name))
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    try:
        configure_logging("chat_api")
        warnings.showwarning(UserWarning(_SECRET), UserWarning, "/a/b.py", 7)
        sys.excepthook(ValueError, ValueError(_SECRET), None)
    finally:
        root.handlers[:], root.level = before
    said = capsys.readouterr()
    warned, uncaught = (json.loads(line) for line in said.out.splitlines())
    assert (warned["event"], warned["category"], warned["where"]) == ("python_warning", "UserWarning", "b.py:7")
    assert (uncaught["event"], uncaught["error"]) == ("uncaught", "ValueError")
    assert _SECRET not in said.out + said.err
