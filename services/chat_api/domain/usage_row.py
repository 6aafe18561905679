"""What some model calls used together."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The calls of one bucket and group that share one currency. `bucket` is the day with which the
    bucket begins, `first` and `last` are the days of it that are counted.

    What is not grouped by is None, and so is the department of people without one. `currency` None means that the
    price of these calls is unknown; then `cost` is None as well, and `unpriced_calls` says how many they are. Cached
    tokens and tokens written to a cache are part of the input, reasoning tokens are part of the output.
    """

    bucket: date
    first: date
    last: date
    day: date | None
    user: str | None
    department: str | None
    provider: str | None
    model: str | None
    currency: str | None
    cost: Decimal | None
    calls: int
    unpriced_calls: int
    estimated_calls: int
    answers: int
    input_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int

    @property
    def cached_share(self) -> float | None:
        """Cached tokens of the input, between 0 and 1; None without input."""
        return round(self.cached_input_tokens / self.input_tokens, 4) if self.input_tokens else None


def decimal_text(amount: Decimal) -> str:
    """Every digit that counts, and never an exponent."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
