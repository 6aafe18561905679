"""How much one person may ask at once and a minute, held over all fronts by the database."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.chat_api.storage.turn_limits import count_turns
from services.chat_api.use_cases.errors import TooManyStreamsError, TooManyTurnsError
from shared.database.driver import Driver

_WINDOW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Zero means no limit."""

    turns_per_minute: int
    concurrent_streams: int

    async def check(self, connection: Driver, owner_id: str, now: datetime) -> None:
        """Raises TooManyStreamsError or TooManyTurnsError. To be called in the transaction that opens the turn."""
        if not self.turns_per_minute and not self.concurrent_streams:
            return
        turns = await count_turns(connection, owner_id, now - _WINDOW)
        if 0 < self.concurrent_streams <= turns.running:
            raise TooManyStreamsError(f"At most {self.concurrent_streams} at once. Wait for one to end, or stop it.")
        if 0 < self.turns_per_minute <= turns.recent and turns.oldest:
            wait = (turns.oldest + _WINDOW - now).total_seconds()
            raise TooManyTurnsError(
                f"At most {self.turns_per_minute} questions a minute.", retry_after=max(1, math.ceil(wait))
            )
