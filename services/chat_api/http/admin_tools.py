"""The tools that a model may be offered, and the switch of each."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict

from services.chat_api.domain.runtime_rules import ToolSwitch, tool_setting
from services.chat_api.http.authentication import AnyFront, AsAdmin
from services.chat_api.http.identifiers import AnyPage
from services.chat_api.http.lists import ListBody, list_body
from services.chat_api.http.preconditions import ExpectedRevision, set_etag
from services.chat_api.storage.keyset import page_of
from services.chat_api.use_cases.tool_directory import ListedTool

router = APIRouter(prefix="/api/v1/admin/tools", tags=["admin"])


class ToolBody(BaseModel):
    """`available`: the deployment has what the tool needs. `leaves_company`: what is sent outside when it runs."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    object: Literal["tool"] = "tool"
    enabled: bool
    available: bool
    switchable: bool
    description: str
    leaves_company: str


class ToolSwitchRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {"enabled": True}})

    enabled: bool


@router.get("")
async def list_tools(_admin: AsAdmin, front: AnyFront, page: AnyPage) -> ListBody[ToolBody]:
    """Every tool that this version knows, switched on or not."""
    return list_body(page_of(front.tools.list, lambda one: one.id, page), _body, lambda one: one.id)


@router.get("/{tool}")
async def read_tool(tool: str, _admin: AsAdmin, front: AnyFront, response: Response) -> ToolBody:
    """One tool with the ETag of its switch."""
    front.tools.find(tool)
    set_etag(response, await front.change_settings.revision_of(tool_setting(tool)))
    return _body(front.tools.find(tool))


@router.put("/{tool}")
async def switch_tool(
    tool: str,
    body: ToolSwitchRequest,
    admin: AsAdmin,
    front: AnyFront,
    expected: ExpectedRevision,
    response: Response,
) -> ToolBody:
    """Switch a tool on or off. It rules the next turn of every front."""
    front.tools.check_switch(tool, enabled=body.enabled)
    stored = await front.change_settings.execute(admin, tool_setting(tool), ToolSwitch(enabled=body.enabled), expected)
    set_etag(response, stored.revision)
    return _body(front.tools.find(tool)).model_copy(update={"enabled": body.enabled})


def _body(tool: ListedTool) -> ToolBody:
    return ToolBody.model_validate(tool)
