"""The cookies of a session and of a login under way: opaque, out of reach of scripts, bound to this host."""

from dataclasses import dataclass
from datetime import timedelta

from fastapi import Request, Response

SESSION = "achilles_session"
LOGIN = "achilles_login"


@dataclass(frozen=True, slots=True)
class Cookies:
    """`secure` adds Secure and the prefix `__Host-`, which no other host of the domain can set."""

    secure: bool

    def name(self, plain: str) -> str:
        return f"__Host-{plain}" if self.secure else plain

    def read(self, request: Request, plain: str) -> str | None:
        return request.cookies.get(self.name(plain)) or None

    def set(self, response: Response, plain: str, value: str, lifetime: timedelta) -> None:
        """Lax, not Strict: the way back from an issuer and a link in a mail are cross-site navigations."""
        response.set_cookie(
            self.name(plain),
            value,
            max_age=int(lifetime.total_seconds()),
            path="/",
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def forget(self, response: Response, plain: str) -> None:
        response.delete_cookie(self.name(plain), path="/", secure=self.secure, httponly=True, samesite="lax")
