"""A year of usage by three hundred people, the same for the same seed: `python -m tests.support.usage_year URL`."""

import asyncio
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import asyncpg

from shared.usage.rollups import FIGURES, KEYS, sums_of

_FIRST_NAMES = (
    *("Ada", "Björn", "Chiara", "Dmitri", "Élodie", "Fatima", "Goran", "Hanna"),
    *("Igor", "Jia", "Karim", "Lena", "Mateo", "Nadia", "Oskar", "Priya"),
)
_LAST_NAMES = (
    *("Abel", "Bauer", "Costa", "Dahl", "Evers", "Fischer", "Gruber"),
    *("Huang", "Ivanova", "Jensen", "Keller", "Lehmann", "Moreau", "Novak"),
)
_DEPARTMENTS = {
    "Engineering": 90,
    "Sales": 60,
    "Customer Service": 50,
    "Operations": 35,
    "Finance": 20,
    "People & HR": 15,
    "研发中心": 15,
    "Отдел закупок": 10,
    None: 5,
}
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Model:
    """Prices are for a million tokens: input, cached input, output; without them they are unknown."""

    provider: str
    name: str
    weight: int
    currency: str | None
    prices: tuple[str, str, str] | None


_MODELS = (
    Model("openai", "gpt-large", 3, "USD", ("2.50", "0.25", "15.00")),
    Model("openai", "gpt-small", 5, "USD", ("0.25", "0.025", "2.00")),
    Model("mistral", "mistral-medium", 2, "EUR", ("0.40", "0.04", "2.00")),
    Model("local", "house-model-70b", 1, None, None),
)
_COLUMNS = (
    *("event_id", "message_id", "provider_call", "user_id", "department", "provider", "model", "input_tokens"),
    *("cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "estimated", "cost"),
    *("currency", "occurred_at"),
)
_ROLL_UP = f"INSERT INTO signals.usage_daily ({', '.join((*KEYS, *FIGURES))}) {sums_of('signals.usage')}"


async def fill_year(database_url: str, last_day: date, *, seed: int = 1, people: int = 300) -> int:
    """Replaces the usage of that database by that of the 365 days up to `last_day`; how many calls they are."""
    connection = await asyncpg.connect(database_url)
    try:
        async with connection.transaction():
            await connection.execute("TRUNCATE signals.usage, signals.usage_daily")
            records = list(_calls(random.Random(seed), last_day, people))
            await connection.copy_records_to_table("usage", schema_name="signals", records=records, columns=_COLUMNS)
            await connection.execute(_ROLL_UP)
    finally:
        await connection.close()
    return len(records)


def _calls(chance: random.Random, last_day: date, people: int) -> Iterator[tuple[object, ...]]:
    staff = _staff(chance, people)
    for ago in range(364, -1, -1):
        day = last_day - timedelta(days=ago)
        busy = (0.12 if day.weekday() >= 5 else 1.0) * (0.35 + 0.65 * (364 - ago) / 364)
        for user, department, keenness in staff:
            for _ in range(_times(chance, busy * keenness)):
                yield from _answer(chance, day, user, department)


def _staff(chance: random.Random, people: int) -> list[tuple[str, str | None, float]]:
    departments = [name for name, size in _DEPARTMENTS.items() for _ in range(size)]
    return [
        (
            f"{chance.choice(_FIRST_NAMES)}.{chance.choice(_LAST_NAMES)}.{number}".lower(),
            departments[number * len(departments) // people],
            chance.lognormvariate(-0.4, 0.8),
        )
        for number in range(people)
    ]


def _times(chance: random.Random, expected: float) -> int:
    """At random, so often on average."""
    return int(expected) + (chance.random() < expected % 1)


def _answer(chance: random.Random, day: date, user: str, department: str | None) -> Iterator[tuple[object, ...]]:
    """One question: the call that searches and the one that answers, or only the first."""
    message = UUID(int=chance.getrandbits(128), version=4)
    model = chance.choices(_MODELS, [one.weight for one in _MODELS])[0]
    at = datetime.combine(day, time(8), UTC) + timedelta(seconds=chance.randrange(36_000))
    for number in range(1, 3 if chance.random() < 0.8 else 2):
        given = chance.randrange(600, 1_800) if number == 1 else chance.randrange(2_000, 9_000)
        cached = given // 2 if chance.random() < 0.55 else 0
        written = (given - cached) // 4 if model.provider == "openai" else 0
        answer = chance.randrange(20, 80) if number == 1 else chance.randrange(120, 900)
        cost = _cost(model, given, cached, answer)
        estimated = chance.random() < 0.01
        event = UUID(int=chance.getrandbits(128), version=4)
        yield (
            *(event, message, number, user, department, model.provider, model.name, given, cached, written, answer),
            *(answer // 3, estimated, cost, model.currency, at + timedelta(seconds=number)),
        )


def _cost(model: Model, given: int, cached: int, answer: int) -> Decimal | None:
    if model.prices is None:
        return None
    fresh, from_cache, out = (Decimal(price) for price in model.prices)
    return ((given - cached) * fresh + cached * from_cache + answer * out) / _MILLION


if __name__ == "__main__":
    calls = asyncio.run(fill_year(sys.argv[1], datetime.now(UTC).date()))
    sys.stdout.write(f"{calls} calls\n")
