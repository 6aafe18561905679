"""A judge behind any OpenAI-compatible endpoint: one short call a sentence, answered by one word."""

from contextlib import aclosing

from services.chat_api.adapters.model_faults import ModelStreamBrokenError
from services.chat_api.adapters.openai_model import OpenAiModel
from services.chat_api.domain.grounding.release import Claim
from services.chat_api.domain.judge import JUDGE_PROMPT, Ruling, read_ruling, render_claim
from services.chat_api.domain.model_call import ModelMessage, ModelReported, ModelRequest, ModelUsage, TextDelta

# One word, with room for what a reasoning model thinks before it.
_MOST_TOKENS = 256
_LONGEST_ANSWER = 64


class OpenAiJudge:
    """Streams through the client of the answering models, so that transport and faults are the same."""

    def __init__(self, client: OpenAiModel, model: str) -> None:
        self._client = client
        self.provider = client.provider
        self._model = model

    @property
    def model(self) -> str:
        return self._model

    async def rule(self, claim: Claim) -> Ruling:
        """Raises a model fault, also for an answer that is neither yes nor no."""
        answer, model, usage = "", self._model, None
        async with aclosing(self._client.stream(self._request(claim))) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextDelta) and len(answer) <= _LONGEST_ANSWER:
                    answer += chunk.text
                elif isinstance(chunk, ModelReported):
                    model, usage = chunk.model or model, chunk.usage or usage
        return _ruling(answer, model, usage)

    def _request(self, claim: Claim) -> ModelRequest:
        return ModelRequest(
            purpose="judge",
            model=self._model,
            prompt=JUDGE_PROMPT,
            messages=(
                ModelMessage("system", JUDGE_PROMPT.static_text),
                ModelMessage("user", render_claim(claim)),
            ),
            max_output_tokens=_MOST_TOKENS,
        )


def _ruling(answer: str, model: str, usage: ModelUsage | None) -> Ruling:
    supported = read_ruling(answer)
    if supported is None:
        raise ModelStreamBrokenError("the judge answered neither yes nor no")
    return Ruling(supported, model, usage)
