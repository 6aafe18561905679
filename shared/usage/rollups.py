"""How calls add up to business days: one definition, for the worker that adds and for the recount that checks."""

KEYS = ("day", "user_id", "department", "provider", "model", "currency")
FIGURES = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost",
    "calls",
    "estimated_calls",
    "answers",
)

# The zone is read by the statement that uses it: after the lock, never from memory.
BUSINESS_DAY = "(occurred_at AT TIME ZONE (SELECT name FROM signals.business_time_zone))::date"

# Whoever adds calls takes this first; a recount waits for all of them and lets nobody in until it is done.
LOCK_FOR_ADDING = "LOCK TABLE signals.usage_daily IN ROW EXCLUSIVE MODE"
LOCK_FOR_RECOUNT = "LOCK TABLE signals.usage_daily IN SHARE ROW EXCLUSIVE MODE"


def sums_of(calls: str) -> str:
    """A query for the rows of `usage_daily` that the rows of `calls` come to, in the order of their keys."""
    return f"""
        SELECT {BUSINESS_DAY} AS day, user_id, coalesce(department, '') AS department, provider, model,
            coalesce(currency, '') AS currency,
            sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
            sum(cache_write_tokens) AS cache_write_tokens, sum(output_tokens) AS output_tokens,
            sum(reasoning_tokens) AS reasoning_tokens, sum(coalesce(cost, 0)) AS cost, count(*) AS calls,
            count(*) FILTER (WHERE estimated) AS estimated_calls,
            count(*) FILTER (WHERE provider_call = 1) AS answers
        FROM {calls}
        GROUP BY 1, 2, 3, 4, 5, 6
        ORDER BY 1, 2, 3, 4, 5, 6"""  # noqa: S608 (`calls` is a name in our own code)


def add_to_sums(rows: str) -> str:
    """Adds what the query `rows` yields. Its order is the order of locks, so that two workers never wait crosswise."""
    columns = ", ".join((*KEYS, *FIGURES))
    added = ", ".join(f"{figure} = kept.{figure} + excluded.{figure}" for figure in FIGURES)
    return f"""
        INSERT INTO signals.usage_daily AS kept ({columns}) {rows}
        ON CONFLICT ({", ".join(KEYS)}) DO UPDATE SET {added}"""
