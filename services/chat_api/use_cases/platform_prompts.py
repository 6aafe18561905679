"""Platform prompts: written once, compared, activated and activated back."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.domain.budget import Window
from services.chat_api.domain.prompts import PLATFORM_PROMPT, answer_prompt
from services.chat_api.domain.runtime_rules import PROMPT_SETTING, PromptChoice
from services.chat_api.domain.token_count import estimate_tokens
from services.chat_api.storage import platform_prompts as store
from services.chat_api.storage.keyset import Page, PageRequest
from services.chat_api.storage.platform_prompts import PlatformPrompt
from services.chat_api.storage.setting_revisions import SettingRevision, newest_revision
from services.chat_api.use_cases.change_settings import ChangeSettings
from services.chat_api.use_cases.errors import NotFoundError, SettingRefusedError
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from shared.identity import Identity

_PROMPT_NAMESPACE = UUID("3d1f2a60-98a4-5c8b-8f0e-5a1c9d2be1f4")
# Whatever administrators write, questions and passages keep the larger part of the window.
_LARGEST_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class ActivePrompt:
    """`prompt` is None while the default holds; `text` is what the model is told either way."""

    prompt: PlatformPrompt | None
    text: str
    change: SettingRevision | None


@dataclass(frozen=True, slots=True)
class PromptComparison:
    """`diff` is a unified diff from `before` to `after`, empty when their texts are the same. None: the default."""

    before: PlatformPrompt | None
    after: PlatformPrompt | None
    diff: str


class PlatformPrompts:
    def __init__(
        self,
        engine: AsyncEngine,
        runtime: RuntimeSettings,
        changes: ChangeSettings,
        window: Window,
        now: Callable[[], datetime],
    ) -> None:
        self._engine = engine
        self._runtime = runtime
        self._changes = changes
        self._window = window
        self._now = now

    async def list(self, page: PageRequest) -> Page[PlatformPrompt]:
        """Raises BadCursorError."""
        async with self._engine.connect() as connection:
            return await store.list_prompts(connection, page)

    async def find(self, prompt_id: UUID) -> PlatformPrompt:
        """Raises NotFoundError."""
        async with self._engine.connect() as connection:
            found = await store.find_prompt(connection, prompt_id)
        if found is None:
            raise NotFoundError
        return found

    async def create(self, identity: Identity, text: str, note: str) -> PlatformPrompt:
        """The same text again is the version that exists. Raises SettingRefusedError."""
        text = text.strip()
        allowed = round(self._window.size * _LARGEST_SHARE)
        needed = estimate_tokens(answer_prompt(text).static_text)
        if needed > allowed:
            raise SettingRefusedError(f"The prompt may take {allowed} tokens of the window, and needs up to {needed}.")
        wanted = PlatformPrompt(uuid5(_PROMPT_NAMESPACE, text), text, note.strip(), identity.user_id, self._now())
        async with self._engine.begin() as connection:
            return await store.add_prompt(connection, wanted)

    async def active(self) -> ActivePrompt:
        async with self._engine.connect() as connection:
            change = await newest_revision(connection, PROMPT_SETTING)
            chosen = PromptChoice.model_validate(change.value).prompt_id if change else None
            prompt = await store.find_prompt(connection, chosen) if chosen else None
        return ActivePrompt(prompt, self._text_of(prompt), change)

    async def activate(self, identity: Identity, prompt_id: UUID | None, expected: int | None) -> SettingRevision:
        """None activates the default. Raises NotFoundError or SettingChangedError."""
        if prompt_id is not None:
            await self.find(prompt_id)
        return await self._changes.execute(identity, PROMPT_SETTING, PromptChoice(prompt_id=prompt_id), expected)

    async def compare(self, before_id: UUID | None, after_id: UUID | None) -> PromptComparison:
        """None stands for the default. Raises NotFoundError."""
        before = await self.find(before_id) if before_id else None
        after = await self.find(after_id) if after_id else None
        lines = difflib.unified_diff(
            self._text_of(before).splitlines(),
            self._text_of(after).splitlines(),
            _name_of(before),
            _name_of(after),
            lineterm="",
        )
        return PromptComparison(before, after, "\n".join(lines))

    def _text_of(self, prompt: PlatformPrompt | None) -> str:
        return prompt.text if prompt else self._runtime.initial.platform_prompt.strip() or PLATFORM_PROMPT


def _name_of(prompt: PlatformPrompt | None) -> str:
    return str(prompt.id) if prompt else "default"
