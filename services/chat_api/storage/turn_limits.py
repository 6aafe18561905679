"""How many turns a person runs and has asked for lately, over all fronts."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_COUNT = text("SELECT running, recent, oldest FROM chat.turns_of_owner(:owner_id, :since)")


@dataclass(frozen=True, slots=True)
class TurnsOfOwner:
    """`recent` turns began after the asked time; `oldest` is the first of them."""

    running: int
    recent: int
    oldest: datetime | None


async def count_turns(connection: AsyncConnection, owner_id: str, since: datetime) -> TurnsOfOwner:
    """Until the transaction ends nobody else opens a turn for this owner, so that the count stays true."""
    row = (await connection.execute(_COUNT, {"owner_id": owner_id, "since": since})).one()
    return TurnsOfOwner(*row)
