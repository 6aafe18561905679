"""How many turns a person runs and has asked for lately, over all fronts."""

from dataclasses import dataclass
from datetime import datetime

from shared.database.driver import Driver

_COUNT = "SELECT running, recent, oldest FROM chat.turns_of_owner($1, $2)"


@dataclass(frozen=True, slots=True)
class TurnsOfOwner:
    """`recent` turns began after the asked time; `oldest` is the first of them."""

    running: int
    recent: int
    oldest: datetime | None


async def count_turns(connection: Driver, owner_id: str, since: datetime) -> TurnsOfOwner:
    """Until the transaction ends nobody else opens a turn for this owner, so that the count stays true."""
    return TurnsOfOwner(*await connection.fetchrow(_COUNT, owner_id, since))
