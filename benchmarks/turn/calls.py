"""When the parts of a model call were sent, on the clock that all processes of one machine share."""

import msgspec


class ModelCallTimes(msgspec.Struct):
    """Seconds of the monotonic clock. `spoken` is the end of the first sentence, `decidable` the token after which the
    gate can know that it ended."""

    question: str
    arrived: float
    spoken: float = 0.0
    decidable: float = 0.0
    ended: float = 0.0
