"""What administrators may change while the fronts run: models, tools, the platform prompt. One value rules one turn."""

from dataclasses import dataclass, field
from uuid import UUID

from pydantic import BaseModel, ConfigDict

MODELS_SETTING = "models"
PROMPT_SETTING = "platform_prompt"
TOOL_SETTING = "tool:"


def tool_setting(tool: str) -> str:
    """The name under which a tool's switch is kept."""
    return f"{TOOL_SETTING}{tool}"


class ModelList(BaseModel):
    """The models that may be asked; the default is one of them."""

    model_config = ConfigDict(frozen=True)

    default: str
    allowed: tuple[str, ...]


class ToolSwitch(BaseModel):
    model_config = ConfigDict(frozen=True)

    enabled: bool


class PromptChoice(BaseModel):
    """None: the prompt that the front was started with, or the one in the code."""

    model_config = ConfigDict(frozen=True)

    prompt_id: UUID | None


@dataclass(frozen=True, slots=True)
class RuntimeRules:
    """`version` grows with every change; 0 is what the environment says. An empty prompt means the one in the code."""

    models: ModelList
    platform_prompt: str = ""
    switches: dict[str, bool] = field(default_factory=dict)
    version: int = 0

    def is_on(self, tool: str, *, otherwise: bool) -> bool:
        return self.switches.get(tool_setting(tool), otherwise)
