"""An address of PostgreSQL as its operators write it."""

import pytest

from shared.database.engine import asyncpg_url, plain_dsn

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_URL = "postgresql://achilles:word@db.example:5432/achilles?sslmode=verify-full"


def test_the_encryption_that_the_address_asks_for_reaches_the_driver() -> None:
    assert dict(asyncpg_url(_URL).query) == {"ssl": "verify-full"}


def test_a_listener_keeps_the_address_as_it_is() -> None:
    assert plain_dsn(_URL) == _URL
