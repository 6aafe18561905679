"""The models that a person may choose, and their list as administrators see and change it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.chat_api.domain.runtime_rules import MODELS_SETTING, ModelList
from services.chat_api.http.authentication import AnyCaller, AnyFront, AsAdmin
from services.chat_api.http.front import Front
from services.chat_api.http.identifiers import AnyPage
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.http.preconditions import ExpectedRevision, set_etag
from services.chat_api.storage.keyset import PageRequest, page_of

router = APIRouter(prefix="/api/v1", tags=["models"])
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f\x7f]+$")]


class ModelBody(BaseModel):
    id: str
    object: Literal["model"] = "model"
    default: bool


class ModelsRequest(BaseModel):
    """The whole list as it shall be; the order is the order of choice."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"default": "small-1", "allowed": ["small-1", "large-1"]}}
    )

    default: ModelName
    allowed: list[ModelName] = Field(min_length=1, max_length=100)


@router.get("/models")
async def list_models(_caller: AnyCaller, front: AnyFront, page: AnyPage) -> ListBody[ModelBody]:
    """The models that one may choose for a conversation. `order=asc` is the administrators' order."""
    return _body(front.models.list, page)


@router.get("/admin/models", tags=["admin"])
async def read_models(_admin: AsAdmin, front: AnyFront, page: AnyPage, response: Response) -> ListBody[ModelBody]:
    """The allow-list with its ETag."""
    return await _current(front, page, response)


@router.put("/admin/models", tags=["admin"])
async def change_models(
    body: ModelsRequest, admin: AsAdmin, front: AnyFront, expected: ExpectedRevision, response: Response
) -> ListBody[ModelBody]:
    """Replace the allow-list and the default. It rules the next turn of every front."""
    models = ModelList(default=body.default, allowed=tuple(dict.fromkeys(body.allowed)))
    front.models.check_list(models)
    stored = await front.change_settings.execute(admin, MODELS_SETTING, models, expected)
    set_etag(response, stored.revision)
    return _body(models, PageRequest(limit=100, order="asc"))


async def _current(front: Front, page: PageRequest, response: Response) -> ListBody[ModelBody]:
    set_etag(response, await front.change_settings.revision_of(MODELS_SETTING))
    return _body(front.models.list, page)


def _body(models: ModelList, page: PageRequest) -> ListBody[ModelBody]:
    bodies = [ModelBody(id=name, default=name == models.default) for name in models.allowed]
    return list_body(page_of(bodies, lambda one: one.id, page), lambda one: one, lambda one: one.id)
