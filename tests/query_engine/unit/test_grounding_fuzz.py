"""Invented dates, identifiers and units in true sentences: the benchmark tries ten thousand, this a few hundred."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.gate_passages import PACKED, QUESTIONS, pass_through

pytestmark = [pytest.mark.unit, pytest.mark.p0, pytest.mark.req("GROUND-1", "GROUND-6")]

_ENDS = {"en": ".", "de": ".", "ru": ".", "zh": "。"}
_MONTHS = {"en": "{} August {}", "de": "{}. August {}", "ru": "{} августа {}", "zh": "{1}年8月{0}日"}
_FACTS = {"en": ("28 days", "28 {}"), "de": ("28 Tage", "28 {}"), "ru": ("28 дней", "28 {}"), "zh": ("28天", "28{}")}
_UNITS = {
    "en": ["weeks", "hours", "euros", "percent", "kilometres", "GB"],
    "de": ["Wochen", "Stunden", "Euro", "Prozent", "Kilometer", "GB"],
    "ru": ["недель", "часов", "рублей", "процентов", "километров"],
    "zh": ["周", "小时", "欧元", "%", "公里"],
}
_CODES = st.sampled_from(sorted(PACKED))


def _first_sentence(code: str) -> str:
    text = PACKED[code][0].text.rpartition("\n")[2]
    return text.partition(_ENDS[code])[0]


@settings(max_examples=200, deadline=None)
@given(_CODES, st.integers(1, 28), st.integers(1100, 2099).filter(lambda year: year != 2021))
def test_no_invented_date_comes_out(code: str, day: int, year: int) -> None:
    date = _MONTHS[code].format(day, year)

    assert date not in pass_through(f"{_first_sentence(code)} ({date}) [1]", PACKED[code], QUESTIONS[code]).text


@settings(max_examples=200, deadline=None)
@given(_CODES, st.integers(300, 99_999), st.sampled_from(["XR-{}", "v2.{}.1", "m{}@evil.example", "ZQ{}", "a_{}"]))
def test_no_invented_identifier_comes_out(code: str, number: int, form: str) -> None:
    identifier = form.format(number)

    answer = pass_through(f"{_first_sentence(code)} {identifier} [1]", PACKED[code], QUESTIONS[code])

    assert identifier not in answer.text


@pytest.mark.parametrize(("code", "unit"), [(code, unit) for code, units in _UNITS.items() for unit in units])
def test_no_other_unit_comes_out(code: str, unit: str) -> None:
    fact, form = _FACTS[code]
    lie = _first_sentence(code).replace(fact, form.format(unit))

    assert form.format(unit) in lie
    assert pass_through(f"{lie} [1]", PACKED[code], QUESTIONS[code]).text == ""
