"""What rules a turn, in one value."""

from dataclasses import dataclass
from datetime import timedelta

from services.chat_api.domain.budget import Window


@dataclass(frozen=True, slots=True)
class TurnSettings:
    window: Window
    passages_at_most: int
    hard_deadline: timedelta
    finalise_deadline: timedelta
