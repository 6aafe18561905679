"""Platform prompts: list, write, compare, activate. Activating an older one undoes a change."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field, field_validator

from services.chat_api.http.authentication import AnyFront, AsAdmin
from services.chat_api.http.identifiers import AnyPage, parse_id
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.http.preconditions import ExpectedRevision, set_etag
from services.chat_api.storage.platform_prompts import PlatformPrompt
from services.chat_api.use_cases.platform_prompts import ActivePrompt

router = APIRouter(prefix="/api/v1/admin/prompts", tags=["admin"])
DEFAULT_PROMPT = "default"
PromptPath = Annotated[str, Path(max_length=64, description="The id of a prompt, or `default`")]
PromptQuery = Annotated[str, Query(max_length=64, description="The id of a prompt, or `default`")]


class PromptBody(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: UUID
    object: Literal["platform_prompt"] = "platform_prompt"
    text: str
    note: str
    created_by: str
    created_at: datetime


class ActivePromptBody(BaseModel):
    """`prompt` is null while the default holds; `text` is what the model is told either way."""

    prompt: PromptBody | None
    text: str
    changed_by: str | None
    changed_at: datetime | None


class ComparisonBody(BaseModel):
    """`before` or `after` is null where the default is meant; `diff` is unified, and empty for equal texts."""

    before: PromptBody | None
    after: PromptBody | None
    diff: str


class PromptRequest(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"text": "You are the assistant of Halden.", "note": "Shorter"}}
    )

    text: str = Field(max_length=50_000)
    note: str = Field(default="", max_length=500)

    @field_validator("text", "note")
    @classmethod
    def _storable(cls, text: str) -> str:
        if "\x00" in text:
            raise ValueError("a NUL character is no text")
        return text

    @field_validator("text")
    @classmethod
    def _not_empty(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("the text is empty; to go back to the default, activate `default`")
        return text


@router.get("")
async def list_prompts(_admin: AsAdmin, front: AnyFront, page: AnyPage) -> ListBody[PromptBody]:
    """Newest first."""
    return list_body(await front.prompts.list(page), _body, lambda prompt: prompt.id)


@router.post("", status_code=201)
async def create_prompt(body: PromptRequest, admin: AsAdmin, front: AnyFront) -> PromptBody:
    """Write a prompt without activating it. The same text again is the prompt that exists already."""
    return _body(await front.prompts.create(admin, body.text, body.note))


@router.get("/active")
async def read_active_prompt(_admin: AsAdmin, front: AnyFront, response: Response) -> ActivePromptBody:
    """What the next turn is told, with the ETag that activating another one wants."""
    return _active_body(await front.prompts.active(), response)


@router.get("/compare")
async def compare_prompts(
    _admin: AsAdmin, front: AnyFront, old: PromptQuery = DEFAULT_PROMPT, new: PromptQuery = DEFAULT_PROMPT
) -> ComparisonBody:
    """Two versions line by line."""
    found = await front.prompts.compare(_id_or_default(old), _id_or_default(new))
    return ComparisonBody(
        before=_body(found.before) if found.before else None,
        after=_body(found.after) if found.after else None,
        diff=found.diff,
    )


@router.get("/{prompt_id}")
async def read_prompt(prompt_id: PromptPath, _admin: AsAdmin, front: AnyFront) -> PromptBody:
    return _body(await front.prompts.find(parse_id(prompt_id)))


@router.post("/{prompt_id}/activate")
async def activate_prompt(
    prompt_id: PromptPath, admin: AsAdmin, front: AnyFront, expected: ExpectedRevision, response: Response
) -> ActivePromptBody:
    """Make a prompt, or `default`, rule the next turn of every front."""
    await front.prompts.activate(admin, _id_or_default(prompt_id), expected)
    return _active_body(await front.prompts.active(), response)


def _id_or_default(text: str) -> UUID | None:
    return None if text == DEFAULT_PROMPT else parse_id(text)


def _body(prompt: PlatformPrompt) -> PromptBody:
    return PromptBody.model_validate(prompt)


def _active_body(active: ActivePrompt, response: Response) -> ActivePromptBody:
    change = active.change
    set_etag(response, change.revision if change else 0)
    return ActivePromptBody(
        prompt=_body(active.prompt) if active.prompt else None,
        text=active.text,
        changed_by=change.changed_by if change else None,
        changed_at=change.changed_at if change else None,
    )
