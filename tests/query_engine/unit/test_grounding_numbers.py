"""One number, many spellings; and spellings that are not the same number."""

from decimal import Decimal

import pytest

from services.chat_api.domain.grounding.analysis import analyse
from services.chat_api.domain.grounding.language_data.loader import load_language
from services.chat_api.domain.grounding.numbers import han_number, readings
from services.chat_api.domain.grounding.tokens import CALENDAR, NUMBER

pytestmark = [pytest.mark.unit, pytest.mark.p0]


def claims(text: str, code: str) -> list[str]:
    said = analyse(text, load_language(code))
    return [token.key for token in said.tokens if token.kind in (NUMBER, CALENDAR)]


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("en", "1,000 and 1000 and 1 000 and 1\u00a0000", ["#1000"] * 4),
        ("en", "one thousand two hundred and five", ["#1205"]),
        ("en", "1.5 million, 1,500,000", ["#1500000", "#1500000"]),
        ("en", "twenty-four items, 24 items", ["#24", "#24"]),
        ("en", "6½ sacks, 6.5 sacks", ["#6.5", "#6.5"]),
        ("en", "May 3, 2020", ["m5", "#3", "#2020"]),
        ("en", "2020-05-03", ["#2020", "m5", "#3"]),
        ("en", "5:30 pm and 17:30", ["t17:30", "t17:30"]),
        ("en", "the 1990s, the 5th, 5km", ["#1990", "#5", "#5"]),
        ("en", "minus: -5 degrees", ["#-5"]),
        ("en", "millions of users", ["scale:1000000"]),
        ("de", "1.000,50 Euro, 1000,5 Euro", ["#1000.5", "#1000.5"]),
        ("de", "fünfundzwanzig, zweihundertdrei", ["#25", "#203"]),
        ("de", "3 Mio. Euro", ["#3000000"]),
        ("de", "3. Mai 2020 und 03.05.2020", ["#3", "m5", "#2020", "#2020", "m5", "#3"]),
        ("de", "17 Uhr, 17.30 Uhr", ["t17:00", "t17:30"]),
        ("ru", "двадцать пять, 25", ["#25", "#25"]),
        ("ru", "1,5 млн рублей", ["#1500000"]),
        ("ru", "3 мая 2020 года", ["#3", "m5", "#2020"]),
        ("zh", "三百二十人，320人", ["#320", "#320"]),
        ("zh", "2020年5月3日", ["#2020", "m5", "#3"]),
        ("zh", "三个月，第六名，百分之三十", ["#3", "#6", "#30"]),
        ("zh", "3万元", ["#30000"]),
    ],
)
def test_spellings_of_one_number_are_one_claim(code: str, text: str, expected: list[str]) -> None:
    assert claims(text, code) == expected


def test_a_lone_group_of_three_digits_is_read_as_its_language_writes_it() -> None:
    assert readings("1.234", "en" and ".") == (Decimal("1.234"), Decimal(1234))
    assert readings("1.234", ",") == (Decimal(1234),)
    assert readings("5.000", ".") == (Decimal(5000),)
    assert readings("0.125", ".") == (Decimal("0.125"),)
    assert readings("1.234.567,8", ",") == (Decimal("1234567.8"),)


@pytest.mark.parametrize(
    ("written", "value"), [("一九九八", 1998), ("三百二十", 320), ("两万五千", 25_000), ("十", 10), ("一亿", 10**8)]
)
def test_chinese_numerals_are_read(written: str, value: int) -> None:
    assert han_number(written) == value


@pytest.mark.parametrize(
    ("code", "text"), [("en", "one of them may march"), ("de", "ein Haus und eine Frau"), ("zh", "一个人，统一，四川")]
)
def test_words_that_only_look_like_numbers_or_months_claim_nothing(code: str, text: str) -> None:
    assert claims(text, code) == []
