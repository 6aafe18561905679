"""Faults, by whose they are. The class alone picks the HTTP status, the retry or the dead letter."""

from typing import ClassVar


class AchillesError(Exception):
    """`code` is stable and machine-readable, `detail` is for the person who asked and holds no secret."""

    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong on our side"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str = "", *, retry_after: int | None = None, **extra: str) -> None:
        """`retry_after` in seconds, where it is known when the same will succeed."""
        super().__init__(detail or self.title)
        self.retry_after = retry_after
        self.detail = detail or self.title
        self.extra = extra


class ClientError(AchillesError):
    """The caller can mend it; sending the same again will not help."""

    code = "bad_request"
    title = "The request cannot be understood"
    status = 400


class TransientError(AchillesError):
    """Something we depend on is away for now; the same request may succeed later."""

    code = "unavailable"
    title = "A part that is needed cannot be reached"
    status = 503
    retryable = True


class PermanentError(AchillesError):
    """A defect: repeating changes nothing."""
