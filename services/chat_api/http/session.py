"""Who is signed in, the demo login (one's own computer, no passwords), and sessions without a person."""

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from services.chat_api.domain.caller import DEMO_AUTHORITY, Caller
from services.chat_api.http.authentication import AnyFront, KnownCaller, public
from services.chat_api.http.cookies import SESSION
from services.chat_api.http.demo_people import DemoPeople
from services.chat_api.http.front import Front
from services.chat_api.http.identifiers import AnyPage
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.http.problems import SignInRequiredError
from services.chat_api.http.ways_in import LoginMode
from services.chat_api.storage.keyset import page_of
from services.chat_api.use_cases.errors import NotFoundError

router = APIRouter(prefix="/api/v1/session", tags=["session"])
LOGIN_PATH = "/api/v1/session/login"
_GUEST = "Guest"


class SignedInUser(BaseModel):
    user_id: str
    display_name: str
    department: str | None
    groups: tuple[str, ...]


class SessionBody(BaseModel):
    """`mode` is how people sign in here. An anonymous session has a user to show, and no identity."""

    user: SignedInUser
    mode: LoginMode = "demo"
    login_url: str | None = None
    anonymous: bool = False


class SignInRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user_id: str = Field(min_length=1, max_length=200)


class PersonBody(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    user_id: str
    display_name: str
    department: str | None
    description: str


@router.get("")
async def read_session(caller: KnownCaller, front: AnyFront) -> SessionBody:
    """Who is signed in. Without a session, a 401 whose `mode`, `login_url` and `anonymous` say how to get one."""
    if caller is None:
        raise SignInRequiredError(retry_after=None, **_ways_to_sign_in(front))
    return _body(caller, front)


@router.get("/people", dependencies=[Depends(public)])
async def list_people(front: AnyFront, page: AnyPage) -> ListBody[PersonBody]:
    """The people that the demo login offers."""
    found = page_of(_people(front).people, lambda person: person.user_id, page)
    return list_body(found, PersonBody.model_validate, lambda person: person.user_id)


@router.post("", dependencies=[Depends(public)])
async def sign_in(body: SignInRequest, request: Request, front: AnyFront, response: Response) -> SessionBody:
    """Sign in as a demo person. There is no password: this login is for one's own computer."""
    people = _people(front)
    person = people.find(body.user_id)
    if person is None:
        known = ", ".join(one.user_id for one in people.people)
        raise NotFoundError(f"There is no such demo person. Known: {known}.")
    return await _begin(Caller.known(person.identity, DEMO_AUTHORITY), request, front, response)


@router.post("/anonymous", dependencies=[Depends(public)])
async def go_in_anonymously(request: Request, front: AnyFront, response: Response) -> SessionBody:
    """Ask without signing in, where that is allowed. The session owns its conversations."""
    if not front.ways_in.anonymous:
        raise NotFoundError("Anonymous access is off here.")
    return await _begin(Caller.anonymous(), request, front, response)


@router.delete("", status_code=204, dependencies=[Depends(public)])
async def sign_out(request: Request, front: AnyFront, response: Response) -> None:
    """End the session. Without one, nothing happens."""
    ways = front.ways_in
    token = ways.cookies.read(request, SESSION)
    if token:
        await ways.sessions.end(token)
    ways.cookies.forget(response, SESSION)


async def _begin(caller: Caller, request: Request, front: Front, response: Response) -> SessionBody:
    ways = front.ways_in
    token = await ways.sessions.begin(caller, instead_of=ways.cookies.read(request, SESSION))
    ways.cookies.set(response, SESSION, token, ways.sessions.lifetime)
    return _body(caller, front)


def _people(front: Front) -> DemoPeople:
    if front.ways_in.people is None:
        raise NotFoundError("There is no demo login here.")
    return front.ways_in.people


def _ways_to_sign_in(front: Front) -> dict[str, str]:
    ways = front.ways_in
    found: dict[str, str] = {"mode": ways.mode}
    if ways.login is not None:
        found["login_url"] = LOGIN_PATH
    if ways.anonymous:
        found["anonymous"] = "allowed"
    return found


def _body(caller: Caller, front: Front) -> SessionBody:
    identity = caller.identity
    user = SignedInUser(
        user_id=caller.owner_id,
        display_name=identity.display_name if identity else _GUEST,
        department=caller.department,
        groups=identity.groups if identity else (),
    )
    return SessionBody(
        user=user,
        mode=front.ways_in.mode,
        login_url=LOGIN_PATH if front.ways_in.login else None,
        anonymous=identity is None,
    )
