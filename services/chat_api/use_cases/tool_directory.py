"""Every tool that this version knows: what a turn is offered of them, and what administrators see."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.chat_api.domain.runtime_rules import RuntimeRules
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, WEB_SEARCH
from services.chat_api.use_cases.errors import NotFoundError, SettingRefusedError
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from services.chat_api.use_cases.tools import Tool


@dataclass(frozen=True, slots=True)
class KnownTool:
    """`needs` is the environment setting without which the tool cannot be switched on."""

    description: str
    leaves_company: str
    switchable: bool = True
    on_by_default: bool = False
    needs: str = ""


KNOWN_TOOLS: Mapping[str, KnownTool] = {
    SEARCH_KNOWLEDGE: KnownTool(
        "Searches the company's knowledge under the rights of the person who asks. Taken away by itself while the "
        "store is empty.",
        "Nothing.",
        switchable=False,
        on_by_default=True,
    ),
    WEB_SEARCH: KnownTool(
        "Asks a SearXNG-compatible search engine, and answers from its result list with the pages as sources. Pages "
        "themselves are never fetched.",
        "The search query that the model writes, sent to the configured search engine. Not who asks, not the "
        "conversation, not the company's passages.",
        needs="ACHILLES_WEB_SEARCH_URL",
    ),
}


@dataclass(frozen=True, slots=True)
class ListedTool:
    id: str
    enabled: bool
    available: bool
    switchable: bool
    description: str
    leaves_company: str


class ToolDirectory:
    """`tools` are those that the deployment has what they need for."""

    def __init__(self, tools: Mapping[str, Tool], runtime: RuntimeSettings) -> None:
        self._tools = tools
        self._runtime = runtime

    def switched_on(self, rules: RuntimeRules) -> dict[str, Tool]:
        """What a turn under these rules may be offered."""
        return {name: tool for name, tool in self._tools.items() if _is_on(name, rules)}

    @property
    def list(self) -> tuple[ListedTool, ...]:
        return tuple(self.find(name) for name in KNOWN_TOOLS)

    def find(self, name: str) -> ListedTool:
        """Raises NotFoundError."""
        known = KNOWN_TOOLS.get(name)
        if known is None:
            raise NotFoundError(f"There is no such tool. Known: {', '.join(KNOWN_TOOLS)}.")
        available = name in self._tools
        return ListedTool(
            id=name,
            enabled=available and _is_on(name, self._runtime.current),
            available=available,
            switchable=known.switchable,
            description=known.description,
            leaves_company=known.leaves_company,
        )

    def check_switch(self, name: str, *, enabled: bool) -> None:
        """Raises NotFoundError or SettingRefusedError."""
        tool = self.find(name)
        if not tool.switchable:
            raise SettingRefusedError(f"`{name}` is what answers rest on; it cannot be switched.")
        if enabled and not tool.available:
            raise SettingRefusedError(f"`{name}` needs {KNOWN_TOOLS[name].needs}, which is not set.")


def _is_on(name: str, rules: RuntimeRules) -> bool:
    known = KNOWN_TOOLS.get(name)
    if known is None or not known.switchable:
        return True
    return rules.is_on(name, otherwise=known.on_by_default)
