"""Who changed which setting, and when."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from services.chat_api.http.authentication import AnyFront, AsAdmin
from services.chat_api.http.identifiers import AnyPage
from services.chat_api.http.lists import ListBody, list_body

router = APIRouter(prefix="/api/v1/admin/changes", tags=["admin"])


class ChangeBody(BaseModel):
    """`value` is what the setting became; its form depends on `name`."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    object: Literal["setting_change"] = "setting_change"
    name: str
    revision: int
    value: dict[str, Any]
    changed_by: str
    changed_at: datetime


@router.get("")
async def list_changes(_admin: AsAdmin, front: AnyFront, page: AnyPage) -> ListBody[ChangeBody]:
    """Newest first. To undo a change, set the value of the revision before it."""
    return list_body(await front.change_settings.list(page), ChangeBody.model_validate, lambda change: change.id)
