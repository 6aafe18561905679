"""The browser's way to the issuer and back. Both are navigations, so they end on a page and not in a problem."""

import logging
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse

from services.chat_api.http.authentication import AnyFront, public
from services.chat_api.http.cookies import LOGIN, SESSION
from services.chat_api.http.front import Front
from services.chat_api.use_cases.browser_login import LOGIN_TAKES_AT_MOST, BrowserLogin, LoginDone
from services.chat_api.use_cases.errors import NotFoundError
from shared.errors import AchillesError, TransientError

router = APIRouter(prefix="/api/v1/session", tags=["session"], dependencies=[Depends(public)])
CALLBACK_PATH = "/api/v1/session/callback"
logger = logging.getLogger(__name__)
Parameter = Annotated[str | None, Query(max_length=4_000)]


@router.get("/login", status_code=303, response_class=RedirectResponse)
async def log_in(
    request: Request, front: AnyFront, return_to: Annotated[str, Query(max_length=2_000)] = "/"
) -> RedirectResponse:
    """Go to the issuer's login. 404 where no issuer is configured for browsers."""
    ways, login = front.ways_in, _login_of(front)
    try:
        started = await login.start(return_to, ways.cookies.read(request, LOGIN))
    except TransientError as fault:
        return _not_signed_in(fault)
    response = _to(started.address)
    ways.cookies.set(response, LOGIN, started.browser, LOGIN_TAKES_AT_MOST)
    return response


@router.get("/callback", status_code=303, response_class=RedirectResponse)
async def come_back(
    request: Request,
    front: AnyFront,
    state: Parameter = None,
    code: Parameter = None,
    error: Parameter = None,
    iss: Parameter = None,
) -> RedirectResponse:
    """Where the issuer sends the browser back to: a session begins, or the page says why none does."""
    ways, login = front.ways_in, _login_of(front)
    if error is not None or not state or not code:
        logger.warning("login_not_completed", extra={"code": "no_code"})
        return _failed("refused")
    browser = ways.cookies.read(request, LOGIN) or ""
    try:
        done = await login.finish(browser=browser, state=state, code=code, issuer=iss)
    except AchillesError as fault:
        return _not_signed_in(fault)
    return await _signed_in(done, login, request, front)


async def _signed_in(done: LoginDone, login: BrowserLogin, request: Request, front: Front) -> RedirectResponse:
    ways = front.ways_in
    if done.caller.identity is not None:
        await ways.api_keys.renew(done.caller.identity, done.caller.authority)
    before = ways.cookies.read(request, SESSION)
    token = await ways.sessions.begin(done.caller, instead_of=before, lifetime=login.lifetime)
    response = _to(done.return_to)
    # The cookie of the login stays until it expires: another tab may still be on its way.
    ways.cookies.set(response, SESSION, token, login.lifetime)
    return response


def _login_of(front: Front) -> BrowserLogin:
    if front.ways_in.login is None:
        raise NotFoundError("No login for browsers is configured here.")
    return front.ways_in.login


def _not_signed_in(fault: AchillesError) -> RedirectResponse:
    logger.warning("login_not_completed", extra={"code": fault.code, "detail": fault.detail})
    return _failed("unavailable" if isinstance(fault, TransientError) else fault.code)


def _failed(reason: str) -> RedirectResponse:
    return _to(f"/?{urlencode({'sign_in': reason})}")


def _to(address: str) -> RedirectResponse:
    return RedirectResponse(address, status_code=303, headers={"cache-control": "no-store"})
