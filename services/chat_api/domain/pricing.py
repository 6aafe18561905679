"""What a call costs: exact, or not known. Nothing is ever taken for nothing because it is not known."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

PER = 1_000_000
# As exact as the column that keeps it.
_SMALLEST = Decimal("0.0000000001")


@dataclass(frozen=True, slots=True)
class Money:
    """`currency` is an ISO 4217 code."""

    amount: Decimal
    currency: str


# What is answered here costs no provider's money, whatever the currency.
NOTHING = Money(Decimal(0), "USD")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Caches are parts of the input, reasoning is a part of the output."""

    input: int
    output: int
    cached_input: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Rates:
    """For a million tokens each. None: as the input, or as the output."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    reasoning: Decimal | None = None

    def cost_of(self, tokens: Tokens) -> Decimal:
        plain_input = tokens.input - tokens.cached_input - tokens.cache_write
        sum_ = plain_input * self.input + (tokens.output - tokens.reasoning) * self.output
        sum_ += tokens.cached_input * (self.input if self.cached_input is None else self.cached_input)
        sum_ += tokens.cache_write * (self.input if self.cache_write is None else self.cache_write)
        sum_ += tokens.reasoning * (self.output if self.reasoning is None else self.reasoning)
        return (sum_ / PER).quantize(_SMALLEST, ROUND_HALF_EVEN)


@dataclass(frozen=True, slots=True)
class Price:
    """`above` are the rates of long inputs, each from beyond so many input tokens on, the longest first."""

    currency: str
    rates: Rates
    above: tuple[tuple[int, Rates], ...] = ()

    def of(self, tokens: Tokens) -> Money:
        rates = next((rates for start, rates in self.above if tokens.input > start), self.rates)
        return Money(rates.cost_of(tokens), self.currency)
