"""Who is asking: from the session cookie, never from a body, a query string or a tool argument."""

from typing import Annotated

from fastapi import Depends, Request

from services.chat_api.http.front import Front, front_of
from services.chat_api.http.problems import SignInRequiredError
from shared.identity import Identity

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
