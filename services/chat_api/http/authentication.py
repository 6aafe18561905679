"""Who is asking: from the session cookie, never from a body, a query string or a tool argument."""

from typing import Annotated

from fastapi import Depends, Request

from services.chat_api.http.front import Front, front_of
from services.chat_api.http.problems import SignInRequiredError
from shared.identity import Identity

SESSION_COOKIE = "achilles_session"

AnyFront = Annotated[Front, Depends(front_of)]


async def signed_in(request: Request, front: AnyFront) -> Identity:
    """Raises SignInRequiredError."""
    token = request.cookies.get(SESSION_COOKIE)
    identity = await front.sessions.identify(token) if token else None
    if identity is None:
        raise SignInRequiredError
    return identity


SignedIn = Annotated[Identity, Depends(signed_in)]
