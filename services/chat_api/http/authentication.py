"""Who is asking: from a bearer token, a trusted proxy or the session cookie, never from a body, a query or a tool."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, APIRouter

from services.chat_api.adapters.oidc_tokens import TokenRefusedError
from services.chat_api.domain.caller import PROXY_AUTHORITY, Caller
from services.chat_api.http.cookies import SESSION
from services.chat_api.http.front import Front, front_of
from services.chat_api.http.problems import RoleRequiredError, SignInRequiredError, TokenInQueryError
from services.chat_api.http.request_context import add_response_header
from services.chat_api.storage.api_keys import Scope
from services.chat_api.use_cases.api_keys import API_KEY_PREFIX
from shared.identity import Identity, Role

AnyFront = Annotated[Front, Depends(front_of)]
_SECRET_PARAMETERS = frozenset(
    {"access_token", "id_token", "token", "bearer", "authorization", "api_key", "api-key", "apikey", "jwt"}
)
Check = TypeVar("Check", bound=Callable[..., Any])
_guards: set[Callable[..., Any]] = set()


class RouteWithoutGuardError(Exception):
    """A route that does not say who may call it."""


def guard(check: Check) -> Check:
    """A dependency that says who may call a route."""
    _guards.add(check)
    return check


@guard
async def public() -> None:
    """Said of a route that anybody may call."""


@guard
async def known_caller(request: Request, front: AnyFront) -> Caller | None:
    """Whoever proves who they are; None without any proof. What is given and wrong is refused, not passed over."""
    ways = front.ways_in
    bearer = _bearer_token(request)
    if bearer is not None:
        if bearer.startswith(API_KEY_PREFIX):
            raise TokenRefusedError("API keys are for the routes under /v1.")
        if ways.tokens is None:
            raise TokenRefusedError("No issuer of tokens is configured here.")
        return await ways.tokens.execute(bearer)
    identity = ways.proxy.identify(request) if ways.proxy else None
    if identity is not None:
        return Caller.known(identity, PROXY_AUTHORITY)
    cookie = ways.cookies.read(request, SESSION)
    return await ways.sessions.identify(cookie) if cookie else None


KnownCaller = Annotated[Caller | None, Depends(known_caller)]


async def any_caller(caller: KnownCaller, front: AnyFront) -> Caller:
    """Also somebody unknown, where anonymous access is on: for this request only. Raises SignInRequiredError."""
    if caller is not None:
        return caller
    if not front.ways_in.anonymous:
        raise SignInRequiredError
    return Caller.anonymous()


AnyCaller = Annotated[Caller, Depends(any_caller)]


async def returning_caller(request: Request, known: KnownCaller, caller: AnyCaller, front: AnyFront) -> Caller:
    """As `any_caller`, and somebody unknown gets a session, so that the conversation begun here stays theirs."""
    if known is None:
        ways = front.ways_in
        response = Response()
        ways.cookies.set(response, SESSION, await ways.sessions.begin(caller), ways.sessions.lifetime)
        add_response_header(request, "set-cookie", response.headers["set-cookie"])
    return caller


ReturningCaller = Annotated[Caller, Depends(returning_caller)]


async def signed_in(caller: AnyCaller) -> Identity:
    """Raises SignInRequiredError, also for somebody anonymous."""
    if caller.identity is None:
        raise SignInRequiredError
    return caller.identity


SignedIn = Annotated[Identity, Depends(signed_in)]


def require_role(role: Role) -> Callable[[Identity], Awaitable[Identity]]:
    """A dependency that lets only people with that role pass."""

    async def check(identity: SignedIn) -> Identity:
        if role not in identity.roles:
            raise RoleRequiredError(f"This needs the role `{role}`. Ask the people who run this system.")
        return identity

    return check


AsAdmin = Annotated[Identity, Depends(require_role("admin"))]


def api_caller(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """A dependency of the routes under /v1: an API key with that scope, or whatever else proves who it is."""

    @guard
    async def check(request: Request, front: AnyFront) -> Caller:
        bearer = _bearer_token(request)
        if bearer is not None and bearer.startswith(API_KEY_PREFIX):
            return await front.ways_in.api_keys.identify(bearer, scope)
        return await any_caller(await known_caller(request, front), front)

    return check


# Who calls the OpenAI-compatible routes.
ApiCaller = Annotated[Caller, Depends(api_caller("chat"))]
ApiModelsCaller = Annotated[Caller, Depends(api_caller("models"))]


async def no_secret_in_query(request: Request) -> None:
    """Raises TokenInQueryError: addresses end up in logs and histories."""
    if any(name.lower() in _SECRET_PARAMETERS for name in request.query_params):
        raise TokenInQueryError


def require_guards(router: APIRouter) -> None:
    """Raises RouteWithoutGuardError, when the application is built, for a route that does not say who may call it."""
    for route in router.routes:
        if isinstance(route, APIRoute) and not _is_guarded(route.dependant):
            raise RouteWithoutGuardError(
                f"{sorted(route.methods or ())} {route.path}: take SignedIn, AnyCaller, a role or ApiCaller, "
                "or say dependencies=[Depends(public)]"
            )


def _is_guarded(dependant: Dependant) -> bool:
    return any(one.call in _guards or _is_guarded(one) for one in dependant.dependencies)


def _bearer_token(request: Request) -> str | None:
    """None for another scheme: a proxy may use Basic for itself."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
