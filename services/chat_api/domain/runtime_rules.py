"""What administrators may change while the fronts run: models, prices, tools, the platform prompt. One value a turn."""

from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from services.chat_api.domain.pricing import Price, Rates

MODELS_SETTING = "models"
PROMPT_SETTING = "platform_prompt"
PRICES_SETTING = "prices"
TOOL_SETTING = "tool:"


def tool_setting(tool: str) -> str:
    """The name under which a tool's switch is kept."""
    return f"{TOOL_SETTING}{tool}"


class ModelList(BaseModel):
    """The models that may be asked; the default is one of them."""

    model_config = ConfigDict(frozen=True)

    default: str
    allowed: tuple[str, ...]


class PriceOverride(BaseModel):
    """A price that an administrator set, for a million tokens each."""

    model_config = ConfigDict(frozen=True)

    model: str
    currency: str = Field(pattern=r"^[A-Z]{3}$")
    input: Decimal = Field(ge=0)
    cached_input: Decimal | None = Field(default=None, ge=0)
    cache_write: Decimal | None = Field(default=None, ge=0)
    output: Decimal = Field(ge=0)

    @property
    def price(self) -> Price:
        return Price(self.currency, Rates(self.input, self.output, self.cached_input, self.cache_write))


class PriceList(BaseModel):
    """Prices in place of the providers' own."""

    model_config = ConfigDict(frozen=True)

    overrides: tuple[PriceOverride, ...] = ()

    def find(self, model: str) -> PriceOverride | None:
        return next((one for one in self.overrides if one.model == model), None)


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
    prices: PriceList = field(default_factory=PriceList)
    version: int = 0

    def is_on(self, tool: str, *, otherwise: bool) -> bool:
        return self.switches.get(tool_setting(tool), otherwise)
