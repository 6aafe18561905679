from collections.abc import Iterator

import pytest

import services.chat_api.main  # noqa: F401 (so that every error class is known)
from services.chat_api.domain.grounding.language import Language
from services.chat_api.http.languages import preferred_language
from services.chat_api.http.problem_texts import localised, problem_texts
from services.chat_api.use_cases.errors import EmptyMessageError, TooManyTurnsError
from services.chat_api.use_cases.start_turn import ChatCommand
from shared.errors import AchillesError
from tests.support.factories import make_caller

pytestmark = [pytest.mark.unit, pytest.mark.p1, pytest.mark.req("HTTP-9")]
OTHERS: tuple[Language, ...] = ("de", "ru", "zh")


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,en;q=0.8", "de"),
        ("fr, ru;q=0.7, en;q=0.3", "ru"),
        ("en;q=0.1, zh-Hans-CN;q=0.9", "zh"),
        ("de;q=0, ru;q=0.1", "ru"),
        ("de;q=nonsense, ru;q=0.1", "ru"),
        ("*", "en"),
        ("," * 10_000, "en"),
    ],
)
def test_the_language_with_the_highest_weight_is_chosen(header: str, language: Language) -> None:
    assert preferred_language(header) == language


@pytest.mark.parametrize(
    ("message", "language"),
    [("Wie viele Urlaubstage habe ich?", "de"), ("12345", "ru"), ("VPN?", "ru"), ("有多少天假期？", "zh")],
)
def test_the_question_decides_and_the_header_where_it_says_nothing(message: str, language: Language) -> None:
    assert ChatCommand(message, make_caller(), preferred_language="ru").language == language


def _error_classes(base: type[AchillesError] = AchillesError) -> Iterator[type[AchillesError]]:
    yield base
    for one in base.__subclasses__():
        yield from _error_classes(one)


@pytest.mark.parametrize("language", OTHERS)
def test_every_error_that_a_caller_can_see_has_a_title_in_every_language(language: Language) -> None:
    codes = {one.code for one in _error_classes() if one.__module__.startswith(("services.chat_api", "shared.errors"))}
    # Faults of a turn travel in its stream, with texts of their own.
    in_the_stream = {"tool_call_unusable", "model_unavailable", "model_busy", "model_refused", "model_stream_broken"}
    assert codes - in_the_stream <= set(problem_texts(language))


@pytest.mark.parametrize("language", OTHERS)
def test_a_problem_reads_in_that_language(language: Language) -> None:
    title, detail = localised(EmptyMessageError(), language)
    assert title == problem_texts(language)["empty_message"]["title"]
    assert detail == problem_texts(language)["empty_message"]["detail"]
    assert localised(TooManyTurnsError("At most 3."), language)[1] != "At most 3."


def test_english_stands_with_the_class() -> None:
    assert localised(EmptyMessageError("Write something."), "en") == ("The message is empty", "Write something.")
