"""A year of model calls, made where they are kept: the same rows as the worker's, without a million messages."""

from datetime import date

from sqlalchemy.ext.asyncio import AsyncEngine

USERS = 1_000
FIRST_DAY = date(2025, 12, 1)
DAYS = 365
_AT_ONCE = 1_000_000

# People keep to a model, and change it now and then; a tenth of the calls is of a model without a price.
_CALLS = """
    INSERT INTO signals.usage (event_id, message_id, provider_call, user_id, department, provider, model, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated, cost, currency,
        occurred_at)
    SELECT gen_random_uuid(), gen_random_uuid(), 1 + n % 2, 'user ' || person, 'department ' || person % 12,
        'openai', CASE WHEN person % 10 = 0 THEN 'local-1' WHEN n % 40 = 0 THEN 'large-1' ELSE 'small-1' END,
        1000 + n % 3000, n % 900, n % 7, 20 + n % 400, n % 20, n % 50 = 0,
        CASE WHEN person % 10 <> 0 THEN (n % 100000) * 0.0000012345 END,
        CASE WHEN person % 10 <> 0 THEN 'EUR' END,
        $1::date::timestamptz + (n::bigint * 7919 % ($2 * 86400)) * interval '1 second'
    FROM (SELECT n, n * 31 % $3 AS person FROM generate_series($4::integer, $5::integer) AS n) AS calls"""


async def add_calls(engine: AsyncEngine, first: int, last: int) -> None:
    """Numbers `first` to `last`, without indexes while they come."""
    async with engine.begin() as connection:
        for statement in (
            "ALTER TABLE signals.usage DROP CONSTRAINT IF EXISTS pk_usage",
            "DROP INDEX IF EXISTS signals.ix_usage_occurred_at",
            "DROP INDEX IF EXISTS signals.ix_usage_message_id",
        ):
            await connection.exec_driver_sql(statement)
    for start in range(first, last + 1, _AT_ONCE):
        async with engine.begin() as connection:
            bounds = (FIRST_DAY, DAYS, USERS, start, min(last, start + _AT_ONCE - 1))
            await connection.exec_driver_sql(_CALLS, bounds)
        print(f"  {bounds[-1]:>10,} calls", flush=True)
    async with engine.begin() as connection:
        for statement in (
            "ALTER TABLE signals.usage ADD CONSTRAINT pk_usage PRIMARY KEY (event_id)",
            "CREATE INDEX ix_usage_occurred_at ON signals.usage (occurred_at)",
        ):
            await connection.exec_driver_sql(statement)
    async with engine.connect() as connection:
        autocommit = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await autocommit.exec_driver_sql("VACUUM ANALYZE signals.usage")
