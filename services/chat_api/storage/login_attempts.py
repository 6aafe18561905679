"""Logins that are under way at an issuer: what was asked, kept until the browser comes back, once."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.chat_api.storage.secrets import hash_of
from shared.database.tables.logins import login_attempts


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    nonce: str
    code_verifier: str
    return_to: str


async def keep_attempt(
    connection: AsyncConnection, attempt: LoginAttempt, *, state: str, browser: str, expires_at: datetime
) -> None:
    await connection.execute(delete(login_attempts).where(login_attempts.c.expires_at < func.now()))
    await connection.execute(
        insert(login_attempts).values(
            state_hash=hash_of(state),
            browser_hash=hash_of(browser),
            nonce=attempt.nonce,
            code_verifier=attempt.code_verifier,
            return_to=attempt.return_to,
            expires_at=expires_at,
        )
    )


async def take_attempt(connection: AsyncConnection, *, state: str, browser: str) -> LoginAttempt | None:
    """The attempt of this state and this browser, which is then gone."""
    statement = (
        delete(login_attempts)
        .where(
            login_attempts.c.state_hash == hash_of(state),
            login_attempts.c.browser_hash == hash_of(browser),
            login_attempts.c.expires_at > func.now(),
        )
        .returning(login_attempts.c.nonce, login_attempts.c.code_verifier, login_attempts.c.return_to)
    )
    row = (await connection.execute(statement)).one_or_none()
    return LoginAttempt(*row) if row else None
