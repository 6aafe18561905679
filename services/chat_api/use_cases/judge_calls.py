"""Every call of the judge goes through here, so that its tokens are counted like those of any other model."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from services.chat_api.adapters.model_faults import MODEL_FAULTS, ModelUnavailableError, is_unbilled
from services.chat_api.domain.grounding.release import Claim
from services.chat_api.domain.judge import JUDGE_PROMPT, Judge, Ruling, render_claim
from services.chat_api.domain.model_call import ModelUsage
from services.chat_api.domain.token_count import estimate_tokens
from services.chat_api.domain.turn_record import ModelRun, TurnRecord
from services.chat_api.use_cases.turn_spans import model_span, note_run
from shared.events.run import RunOutcome


async def observed_ruling(
    judge: Judge, claim: Claim, record: TurnRecord, now: Callable[[], datetime], within: timedelta
) -> Ruling:
    """The ruling, with its run noted in `record` however it ends. A model fault, or ModelUnavailableError when the
    judge has not ruled in time."""
    at, started = now(), time.monotonic()
    ruling: Ruling | None = None
    outcome: RunOutcome = "interrupted"
    unbilled = False
    with model_span(judge.provider, judge.model, "judge") as opened:
        try:
            with opened.inside():
                async with asyncio.timeout(within.total_seconds()):
                    ruling = await judge.rule(claim)
            outcome = "completed"
            return ruling
        except TimeoutError as fault:
            outcome = "failed"
            raise ModelUnavailableError("the judge did not rule in time") from fault
        except MODEL_FAULTS as fault:
            outcome, unbilled = "failed", is_unbilled(fault)
            raise
        finally:
            milliseconds = round((time.monotonic() - started) * 1000)
            usage = ModelUsage(0, 0) if unbilled else (ruling.usage if ruling else None) or _estimated(claim, ruling)
            run = _run_of(judge, claim, ruling, outcome, at, milliseconds, usage)
            record.runs.append(run)
            note_run(opened, run)


def _run_of(
    judge: Judge,
    claim: Claim,
    ruling: Ruling | None,
    outcome: RunOutcome,
    at: datetime,
    milliseconds: int,
    usage: ModelUsage,
) -> ModelRun:
    output = "" if ruling is None else "yes" if ruling.supported else "no"
    asked = msgspec.json.encode([judge.model, claim.sentence, claim.evidence])
    return ModelRun(
        prompt=JUDGE_PROMPT,
        provider=judge.provider,
        model=ruling.model if ruling else judge.model,
        outcome=outcome,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        estimated=ruling is None or ruling.usage is None,
        latency_ms=milliseconds,
        first_token_ms=None,
        input_hash=hashlib.sha256(asked).hexdigest(),
        output_hash=hashlib.sha256(output.encode()).hexdigest(),
        at=at,
        purpose="judge",
        asked_model=judge.model,
    )


def _estimated(claim: Claim, ruling: Ruling | None) -> ModelUsage:
    asked = estimate_tokens(JUDGE_PROMPT.static_text) + estimate_tokens(render_claim(claim))
    return ModelUsage(asked, 0 if ruling is None else 1)
