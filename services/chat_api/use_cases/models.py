"""The models that may be asked, and the client that asks them."""

from dataclasses import dataclass

from services.chat_api.domain.model_call import ModelClient
from services.chat_api.use_cases.errors import ModelNotAllowedError


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`replaced` is true when the selected model is not allowed any more and the default answers."""

    name: str
    client: ModelClient
    replaced: bool = False


class ModelDirectory:
    """The allow-list. The default model is always on it."""

    def __init__(self, client: ModelClient, *, default: str, allowed: tuple[str, ...]) -> None:
        self._client = client
        self._default = default
        self._allowed = frozenset(allowed) | {default}

    @property
    def names(self) -> tuple[str, ...]:
        """The default first."""
        return self._default, *sorted(self._allowed - {self._default})

    def check_allowed(self, name: str) -> None:
        """Raises ModelNotAllowedError."""
        if name not in self._allowed:
            raise ModelNotAllowedError

    def choose(self, selected: str | None) -> ModelChoice:
        if selected is None or selected in self._allowed:
            return ModelChoice(selected or self._default, self._client)
        return ModelChoice(self._default, self._client, replaced=True)
