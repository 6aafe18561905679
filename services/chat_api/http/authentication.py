"""Who is asking: from the session cookie, never from a body, a query string or a tool argument."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request

from services.chat_api.http.front import Front, front_of
from services.chat_api.http.problems import RoleRequiredError, SignInRequiredError
from shared.identity import Identity, Role

SESSION_COOKIE = "achilles_session"

AnyFront = Annotated[Front, Depends(front_of)]


async def identify(request: Request, front: Front) -> Identity | None:
    """The session's person; None without a session."""
    token = request.cookies.get(SESSION_COOKIE)
    return await front.sessions.identify(token) if token else None


async def signed_in(request: Request, front: AnyFront) -> Identity:
    """Raises SignInRequiredError."""
    identity = await identify(request, front)
    if identity is None:
        raise SignInRequiredError
    return identity


SignedIn = Annotated[Identity, Depends(signed_in)]
# Who calls the OpenAI-compatible routes.
ApiCaller = SignedIn


def require_role(role: Role) -> Callable[[Identity], Awaitable[Identity]]:
    """A dependency that lets only people with that role pass."""

    async def check(identity: SignedIn) -> Identity:
        if role not in identity.roles:
            raise RoleRequiredError(f"This needs the role `{role}`. Ask the people who run this system.")
        return identity

    return check


AsAdmin = Annotated[Identity, Depends(require_role("admin"))]
