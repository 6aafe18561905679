"""The models that may be asked, and the client that asks them."""

from collections.abc import Callable
from dataclasses import dataclass

from services.chat_api.domain.model_call import EMBEDDED_MODEL, EMBEDDED_PROVIDER, ModelClient
from services.chat_api.domain.runtime_rules import ModelList
from services.chat_api.domain.token_count import TokenCounter, estimate_tokens
from services.chat_api.use_cases.errors import ModelNotAllowedError, SettingRefusedError
from services.chat_api.use_cases.runtime_settings import RuntimeSettings

_EMBEDDED_ONLY = ModelList(default=EMBEDDED_MODEL, allowed=(EMBEDDED_MODEL,))


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`replaced` is true when the selected model is not allowed any more and the default answers."""

    name: str
    client: ModelClient
    count_tokens: TokenCounter = estimate_tokens
    replaced: bool = False


class ModelDirectory:
    """The allow-list as it is now. The default model is always on it."""

    def __init__(
        self, client: ModelClient, runtime: RuntimeSettings, counter_for: Callable[[str], TokenCounter]
    ) -> None:
        self._client = client
        self._runtime = runtime
        self._counter_for = counter_for

    @property
    def provider(self) -> str:
        return self._client.provider

    @property
    def list(self) -> ModelList:
        """Without an endpoint there is only the embedded answerer, whatever was listed while there was one."""
        return _EMBEDDED_ONLY if self._client.provider == EMBEDDED_PROVIDER else self._runtime.current.models

    @property
    def names(self) -> tuple[str, ...]:
        """The default first."""
        models = self.list
        return models.default, *(name for name in models.allowed if name != models.default)

    def check_allowed(self, name: str) -> None:
        """Raises ModelNotAllowedError."""
        if name not in self.list.allowed:
            raise ModelNotAllowedError

    def check_list(self, models: ModelList) -> None:
        """Raises SettingRefusedError with what is wrong."""
        if models.default not in models.allowed:
            raise SettingRefusedError("The default model must be one of the allowed models.")
        if self._client.provider == EMBEDDED_PROVIDER and models != _EMBEDDED_ONLY:
            raise SettingRefusedError(
                f"Without a model endpoint only `{EMBEDDED_MODEL}` can answer. Set ACHILLES_MODEL_BASE_URL first."
            )

    def choose(self, selected: str | None) -> ModelChoice:
        models = self.list
        replaced = selected is not None and selected not in models.allowed
        name = models.default if selected is None or replaced else selected
        return ModelChoice(name, self._client, self._counter_for(name), replaced)
