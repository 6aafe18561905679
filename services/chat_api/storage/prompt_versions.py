"""Prompt versions register themselves with the first turn that used them."""

from collections.abc import Iterable

from services.chat_api.domain.prompts import PromptVersion
from shared.database.driver import Driver

_REGISTER = """
    INSERT INTO traces.prompt_versions (id, name, static_text) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING
"""


class PromptVersions:
    """Remembers what is registered: a version is addressed by its content, so it never changes."""

    def __init__(self) -> None:
        self._registered: set[PromptVersion] = set()

    async def register(self, connection: Driver, prompts: Iterable[PromptVersion]) -> None:
        for prompt in dict.fromkeys(prompts):
            if prompt not in self._registered:
                await connection.execute(_REGISTER, prompt.id, prompt.name, prompt.static_text)
                self._registered.add(prompt)
