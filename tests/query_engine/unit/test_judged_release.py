"""Past the judge to the reader: in order, as soon as possible, and closed whenever something is amiss."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from services.chat_api.adapters.model_faults import ModelStreamBrokenError, ModelUnavailableError
from services.chat_api.domain.grounding.release import Claim, JudgeScope
from services.chat_api.domain.model_call import TextDelta
from services.chat_api.domain.turn_events import AnswerDelta, TurnEvent
from services.chat_api.use_cases.answer_call import AnswerFromPassages
from services.chat_api.use_cases.judged_release import Judging
from services.chat_api.use_cases.turn_under_way import TurnUnderWay
from tests.support.fake_judge import FAKE_JUDGE, Answer, FakeJudge
from tests.support.gate_passages import ENGLISH
from tests.support.scripted_model import SCRIPTED_MODEL, Reply, ScriptedModel, say
from tests.support.turns import SETTINGS, make_turn, now
from tests.support.waiting import eventually

pytestmark = [pytest.mark.unit, pytest.mark.p0]

_QUESTION = "Wie viel Urlaub gibt es?"
_DAYS = "Es gibt 28 Tage Urlaub im Jahr. [1]"
_WEEKS = "Urlaub wird zwei Wochen vorher beantragt. [1]"
_COSTS = "Reisekosten werden in 30 Tagen erstattet. [2]"
_THREE = f"{_DAYS} {_WEEKS} {_COSTS}"
_ABOUT_BERLIN = "Wie hoch ist die Tagespauschale für Berlin?"
_BERLIN = "Die Tagespauschale für Berlin beträgt 1.500 Euro. [2]"
_VERBATIM = "Full-time employees receive 28 days of paid annual leave per year. [1]"


def _turn(*replies: Reply) -> tuple[TurnUnderWay, list[TurnEvent]]:
    told: list[TurnEvent] = []
    return make_turn(_QUESTION, ENGLISH, ScriptedModel(*replies), told), told


async def _answer(
    turn: TurnUnderWay,
    judge: FakeJudge,
    *,
    scope: JudgeScope = "other_language",
    limit: float = 5,
    asked: str = _QUESTION,
) -> bool:
    judging = Judging(judge, scope, timedelta(seconds=limit))
    return await AnswerFromPassages(SETTINGS, now, judging).execute(turn, asked)


def _except(word: str, otherwise: Answer) -> Callable[[Claim], Answer]:
    return lambda claim: otherwise if word in claim.sentence else True


def _reasons(turn: TurnUnderWay) -> list[str]:
    return [rejection.reason.value for rejection in turn.record.rejections]


async def _reached(condition: Callable[[], bool]) -> None:
    async def probe() -> bool:
        return condition()

    await eventually(probe)


async def test_an_answer_in_another_language_is_released_sentence_by_sentence_with_its_sources() -> None:
    turn, _told = _turn(say(_THREE))
    assert await _answer(turn, FakeJudge())
    assert turn.record.content == _THREE
    assert [citation.n for citation in turn.record.citations] == [1, 2]
    assert "28 days" in turn.record.citations[0].quote


@pytest.mark.req("GROUND-1", "GROUND-12")
async def test_what_the_judge_denies_is_dropped_with_its_citation_and_the_reason_is_kept() -> None:
    turn, _told = _turn(say(_THREE))
    await _answer(turn, FakeJudge(_except("Reisekosten", False)))
    assert turn.record.content == f"{_DAYS} {_WEEKS}"
    assert [citation.n for citation in turn.record.citations] == [1]
    assert _reasons(turn) == ["judge_rejected"]


@pytest.mark.parametrize("fault", [ModelUnavailableError(), ModelStreamBrokenError("the judge mumbled")])
async def test_a_judge_that_fails_keeps_the_sentence_back(fault: Exception) -> None:
    turn, _told = _turn(say(_THREE))
    await _answer(turn, FakeJudge(_except("28", fault)))
    assert turn.record.content == f"{_WEEKS} {_COSTS}"
    assert _reasons(turn) == ["judge_unavailable"]


async def test_a_judge_that_does_not_rule_in_time_keeps_the_sentence_back() -> None:
    turn, _told = _turn(say(_THREE))
    await _answer(turn, FakeJudge(_except("28", asyncio.Event())), limit=0.1)
    assert turn.record.content == f"{_WEEKS} {_COSTS}"
    assert _reasons(turn) == ["judge_unavailable"]


async def test_when_the_judge_denies_everything_the_passages_are_quoted() -> None:
    turn, _told = _turn(say(_BERLIN))
    assert await _answer(turn, FakeJudge(lambda _claim: False), asked=_ABOUT_BERLIN)
    assert turn.record.notes == ["fell_back_to_quotes"]
    assert "Tagespauschale" not in turn.record.content
    assert "1,500 euros" in turn.record.content


async def test_a_judge_that_is_down_is_left_alone_for_the_rest_of_the_turn() -> None:
    turn, _told = _turn(say(" ".join([_DAYS, _WEEKS] * 10)))
    judge = FakeJudge(lambda _claim: ModelUnavailableError())
    await _answer(turn, judge)
    assert len(judge.claims) < 10
    assert _reasons(turn) == ["judge_unavailable"] * 20


async def test_a_sentence_is_released_when_it_is_ruled_while_the_model_still_streams() -> None:
    rest = asyncio.Event()
    turn, told = _turn(Reply([TextDelta(f"{_DAYS} {_WEEKS[:20]}"), rest, TextDelta(_WEEKS[20:])]))
    answering = asyncio.create_task(_answer(turn, FakeJudge()))
    await _reached(lambda: AnswerDelta(_DAYS) in told)
    rest.set()
    await answering
    assert turn.record.content == f"{_DAYS} {_WEEKS}"


async def test_rulings_overlap_and_a_late_one_still_comes_first() -> None:
    late = asyncio.Event()
    turn, told = _turn(say(_THREE))
    judge = FakeJudge(_except("28", late))
    answering = asyncio.create_task(_answer(turn, judge))
    await _reached(lambda: len(judge.claims) == 3)
    assert [event for event in told if isinstance(event, AnswerDelta)] == []
    late.set()
    await answering
    assert turn.record.content == _THREE


async def test_no_more_than_a_few_rulings_run_at_once() -> None:
    released = asyncio.Event()
    turn, _told = _turn(say(" ".join([_DAYS, _WEEKS] * 10)))
    judge = FakeJudge(lambda _claim: released)
    answering = asyncio.create_task(_answer(turn, judge))
    await _reached(lambda: judge.under_way == 4)
    released.set()
    await answering
    assert judge.most_under_way == 4
    assert turn.record.content == " ".join([_DAYS, _WEEKS] * 10)


async def test_a_turn_that_is_stopped_cites_only_what_it_released() -> None:
    turn, told = _turn(say(_THREE))
    answering = asyncio.create_task(_answer(turn, FakeJudge(_except("Reisekosten", asyncio.Event()))))
    await _reached(lambda: AnswerDelta(f" {_WEEKS}") in told)
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    assert turn.record.content == f"{_DAYS} {_WEEKS}"
    assert [citation.n for citation in turn.record.citations] == [1]
    assert [run.outcome for run in turn.record.runs if run.purpose == "judge"].count("interrupted") == 1


async def test_a_model_that_breaks_off_raises_its_own_fault_and_keeps_what_was_released() -> None:
    turn, _told = _turn(Reply([TextDelta(f"{_DAYS} {_WEEKS} "), ModelStreamBrokenError()]))
    with pytest.raises(ModelStreamBrokenError):
        await _answer(turn, FakeJudge(_except("Wochen", asyncio.Event())))
    assert "Wochen" not in turn.record.content


async def test_every_ruling_is_a_run_and_its_tokens_count_but_the_answer_is_the_models() -> None:
    turn, _told = _turn(say(_THREE))
    await _answer(turn, FakeJudge(_except("28", ModelUnavailableError())))
    judged = [run for run in turn.record.runs if run.purpose == "judge"]
    assert sorted((run.outcome, run.model, run.estimated) for run in judged) == [
        ("completed", FAKE_JUDGE, False),
        ("completed", FAKE_JUDGE, False),
        ("failed", FAKE_JUDGE, True),
    ]
    assert turn.record.output_tokens == 20 + 2
    # A judge that was not reached used nothing.
    assert turn.record.input_tokens == 100 + 2 * 50
    assert turn.record.answered_by == SCRIPTED_MODEL


async def test_in_one_language_a_judge_is_asked_only_where_all_is_judged() -> None:
    shortened = "Full-time employees receive 28 days of annual leave per year. [1]"
    expected: tuple[tuple[JudgeScope, int], ...] = (("other_language", 0), ("all", 1))
    for scope, asked in expected:
        turn, _told = _turn(say(f"{_VERBATIM} {shortened}"))
        judge = FakeJudge()
        await _answer(turn, judge, scope=scope)
        assert len(judge.claims) == asked
        assert turn.record.content == f"{_VERBATIM} {shortened}"


async def test_without_a_judge_the_passages_are_quoted_as_ever() -> None:
    turn, _told = _turn(say(_BERLIN))
    assert await AnswerFromPassages(SETTINGS, now).execute(turn, _ABOUT_BERLIN)
    assert turn.record.notes == ["fell_back_to_quotes"]
    assert "1,500 euros" in turn.record.content
    assert [run.purpose for run in turn.record.runs] == ["answer"]
