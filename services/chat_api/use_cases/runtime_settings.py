"""The rules that hold now, kept in memory: a turn never reads them from the database."""

import asyncio
import contextlib
import logging
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.chat_api.domain.runtime_rules import (
    MODELS_SETTING,
    PRICES_SETTING,
    PROMPT_SETTING,
    TOOL_SETTING,
    ModelList,
    PriceList,
    PromptChoice,
    RuntimeRules,
    ToolSwitch,
)
from services.chat_api.storage.platform_prompts import find_prompt
from services.chat_api.storage.setting_revisions import (
    SettingRevision,
    newest_revisions,
    read_version,
    revisions_before,
)
from shared.database.listener import WakeSignal

logger = logging.getLogger(__name__)
Setting = TypeVar("Setting", bound=BaseModel)
_MOST_STEPS_BACK = 100


class RuntimeSettings:
    """What the environment says, overlaid with what administrators changed. Unreadable: the last known rules stay."""

    def __init__(self, engine: AsyncEngine, initial: RuntimeRules) -> None:
        self._engine = engine
        self._initial = initial
        self._rules = initial
        self._refreshing = asyncio.Lock()

    @property
    def current(self) -> RuntimeRules:
        return self._rules

    @property
    def initial(self) -> RuntimeRules:
        """What holds where nobody changed anything."""
        return self._initial

    async def be_at(self, version: int) -> None:
        """Read the rules if `version`, seen in the database, is not the one that is known. Raises nothing."""
        if version == self._rules.version:
            return
        async with self._refreshing:
            if version != self._rules.version:
                await self._refresh()

    async def watch(self, wake: WakeSignal, every: timedelta) -> None:
        """Follow changes until cancelled: at once when notified, else after `every`."""
        while True:
            try:
                async with self._engine.connect() as connection:
                    version = await read_version(connection)
                await self.be_at(version)
            except Exception as fault:  # noqa: BLE001 (the last known rules stay)
                logger.warning("settings_not_watched", extra={"error": type(fault).__name__})
            await wake.wait(every.total_seconds())

    async def _refresh(self) -> None:
        try:
            async with self._engine.connect() as connection:
                self._rules = await self._read(connection)
        except Exception as fault:  # noqa: BLE001 (the last known rules stay)
            logger.error("settings_not_read", extra={"error": type(fault).__name__})
            return
        logger.info("settings_read", extra={"version": self._rules.version})

    async def _read(self, connection: AsyncConnection) -> RuntimeRules:
        # The version first: a change in between is then read again rather than missed.
        version = await read_version(connection)
        newest = await newest_revisions(connection)
        models = await _understood(connection, newest.get(MODELS_SETTING), ModelList)
        prompt = await _understood(connection, newest.get(PROMPT_SETTING), PromptChoice)
        prices = await _understood(connection, newest.get(PRICES_SETTING), PriceList)
        switches = {
            name: switch.enabled
            for name, one in newest.items()
            if name.startswith(TOOL_SETTING) and (switch := await _understood(connection, one, ToolSwitch))
        }
        return RuntimeRules(
            models=models or self._initial.models,
            platform_prompt=await self._prompt(connection, prompt),
            switches={**self._initial.switches, **switches},
            prices=prices or self._initial.prices,
            version=version,
        )

    async def _prompt(self, connection: AsyncConnection, chosen: PromptChoice | None) -> str:
        found = await find_prompt(connection, chosen.prompt_id) if chosen and chosen.prompt_id else None
        return found.text if found else self._initial.platform_prompt


async def _understood(
    connection: AsyncConnection, newest: SettingRevision | None, shape: type[Setting]
) -> Setting | None:
    """The newest value that this release understands: while releases are mixed, a later one may have written others.
    None where nobody changed anything, or nothing is understood."""
    if newest is None:
        return None
    try:
        return shape.model_validate(newest.value)
    except ValidationError:
        logger.error("setting_not_understood", extra={"setting": newest.name, "revision": newest.revision})
    for older in await revisions_before(connection, newest, at_most=_MOST_STEPS_BACK):
        with contextlib.suppress(ValidationError):
            return shape.model_validate(older.value)
    return None
