"""What fits into the model's window: the current message whole, then history, then passages."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.chat_api.domain.model_call import ModelMessage
from services.chat_api.domain.token_count import TokenCounter, estimate_tokens

_MESSAGE_OVERHEAD = 8


@dataclass(frozen=True, slots=True)
class Window:
    """Token counts. `history_share` is the part of the free window that history may take."""

    size: int
    answer_reserve: int
    history_share: float = 0.35

    def free_after(self, fixed_tokens: int) -> int:
        """What is left for history and passages once the answer's reserve and the fixed parts are held back."""
        return self.size - self.answer_reserve - fixed_tokens


def message_tokens(content: str, count: TokenCounter = estimate_tokens) -> int:
    return count(content) + _MESSAGE_OVERHEAD


def cut_history(
    history: Sequence[ModelMessage], budget: int, count: TokenCounter = estimate_tokens
) -> tuple[ModelMessage, ...]:
    """The newest whole messages that fit, oldest dropped first, and never an answer without its question."""
    kept: list[ModelMessage] = []
    used = 0
    for message in reversed(history):
        used += message_tokens(message.content, count)
        if used > budget:
            break
        kept.append(message)
    kept.reverse()
    while kept and kept[0].role == "assistant":
        kept.pop(0)
    return tuple(kept)
