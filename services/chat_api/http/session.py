"""The demo login: choose one of the people from a file. It exists on loopback only and says what it is."""

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from services.chat_api.http.authentication import SESSION_COOKIE, AnyFront, SignedIn
from services.chat_api.http.identifiers import AnyPage
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.storage.keyset import page_of
from services.chat_api.use_cases.errors import NotFoundError
from shared.identity import Identity

router = APIRouter(prefix="/api/v1/session", tags=["session"])


class SignedInUser(BaseModel):
    user_id: str
    display_name: str
    department: str | None
    groups: tuple[str, ...]


class SessionBody(BaseModel):
    user: SignedInUser
    mode: Literal["demo"] = "demo"


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
async def read_session(identity: SignedIn) -> SessionBody:
    """Who is signed in."""
    return _body(identity)


@router.get("/people")
async def list_people(front: AnyFront, page: AnyPage) -> ListBody[PersonBody]:
    """The people that the demo login offers."""
    found = page_of(front.people.people, lambda person: person.user_id, page)
    return list_body(found, PersonBody.model_validate, lambda person: person.user_id)


@router.post("")
async def sign_in(body: SignInRequest, front: AnyFront, response: Response) -> SessionBody:
    """Sign in as a demo person. There is no password: this login is for one's own computer."""
    person = front.people.find(body.user_id)
    if person is None:
        known = ", ".join(one.user_id for one in front.people.people)
        raise NotFoundError(f"There is no such demo person. Known: {known}.")
    token = await front.sessions.begin(person.identity)
    response.set_cookie(
        SESSION_COOKIE,
        token,
        max_age=int(front.sessions.lifetime.total_seconds()),
        httponly=True,
        samesite="lax",
        path="/",
    )
    return _body(person.identity)


@router.delete("", status_code=204)
async def sign_out(request: Request, front: AnyFront, response: Response) -> None:
    """End the session. Without one, nothing happens."""
    token = request.cookies.get(SESSION_COOKIE)
    if token:
        await front.sessions.end(token)
    response.delete_cookie(SESSION_COOKIE, path="/")


def _body(identity: Identity) -> SessionBody:
    return SessionBody(
        user=SignedInUser(
            user_id=identity.user_id,
            display_name=identity.display_name,
            department=identity.department,
            groups=identity.groups,
        )
    )
