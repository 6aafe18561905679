"""The `llm` command, told of Achilles in its own configuration file and by nothing else."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import yaml

from tests.support.front import RunningFront
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_SECONDS = 90

Llm = Callable[..., Awaitable[str]]


@pytest.fixture
def llm(front: RunningFront, api_key: str, tmp_path: Path) -> Llm:
    entry = {
        "model_id": "company",
        "model_name": "achilles",
        "api_base": f"{front.url}/v1",
        "api_key_name": "achilles",
        "headers": {"X-Achilles-Source-Links": "true"},
    }
    (tmp_path / "extra-openai-models.yaml").write_text(yaml.safe_dump([entry]))
    (tmp_path / "keys.json").write_text(json.dumps({"achilles": api_key}))

    async def run(*arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "llm", *arguments),
            env={**os.environ, "LLM_USER_PATH": str(tmp_path)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(_SECONDS):
            out, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        return out.decode()

    return run


@pytest.mark.req("HTTP-2")
@pytest.mark.parametrize("mode", [(), ("--no-stream",)])
async def test_a_question_is_answered_with_its_sources(
    llm: Llm, front: RunningFront, model: ScriptedModel, store: StubKnowledgeStore, mode: tuple[str, ...]
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    told = await llm("prompt", "-m", "company", *mode, "How much leave do I have?")
    assert told == f"{_LEAVE} [1]\n\n- [1] [Page 1]({front.url}/sources/handbook/page-1.md)\n"


async def test_a_system_prompt_and_a_follow_up_are_understood(llm: Llm, model: ScriptedModel) -> None:
    model.script(say("Hello."), say("Hello again."))
    await llm("prompt", "-m", "company", "-s", "Be brief.", "Hi")
    assert "Hello again." in await llm("prompt", "-c", "And now?")
    messages = [message.content for message in model.requests[1].messages]
    assert "Be brief." in messages[1]
    assert messages[2] == "Hi"
    assert messages[-1] == "And now?"
