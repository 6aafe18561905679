"""Engines for PostgreSQL over asyncpg. Nothing is connected until the first statement."""

from datetime import timedelta

from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine


def asyncpg_url(database_url: str) -> URL:
    """`postgresql://…` as operators write it, for the driver of this project, which says `ssl` for `sslmode`."""
    url = make_url(database_url).set(drivername="postgresql+asyncpg")
    mode = url.query.get("sslmode")
    return url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode}) if mode else url


def plain_dsn(database_url: str) -> str:
    """The same address for asyncpg itself (LISTEN connections), without a driver name."""
    return make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)


def make_engine(
    database_url: str,
    *,
    application_name: str,
    pool_size: int = 10,
    statement_timeout: timedelta = timedelta(seconds=15),
    connect_timeout: timedelta = timedelta(seconds=5),
) -> AsyncEngine:
    """An engine whose sessions end by themselves when a statement hangs or its client is gone."""
    return create_async_engine(
        asyncpg_url(database_url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=connect_timeout.total_seconds(),
        pool_recycle=1800,
        connect_args={
            "timeout": connect_timeout.total_seconds(),
            "command_timeout": statement_timeout.total_seconds() + 5,
            "server_settings": {
                "application_name": application_name,
                "statement_timeout": str(int(statement_timeout.total_seconds() * 1000)),
                # A cancelled request leaves its server-side statement running unless the server looks for the client.
                "client_connection_check_interval": "2000",
                "idle_in_transaction_session_timeout": "60000",
                "timezone": "UTC",
            },
        },
    )
