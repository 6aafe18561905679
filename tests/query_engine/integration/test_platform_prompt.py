"""The platform prompt stands first in every call, on every front, whichever an administrator activated."""

import pytest

from services.chat_api.domain.prompts import GROUNDING_RULES, PLATFORM_PROMPT
from tests.support.scripted_model import say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.two_fronts import two_fronts

pytestmark = [pytest.mark.integration, pytest.mark.p0]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."


@pytest.mark.req("GROUND-8")
async def test_an_activated_prompt_stands_first_on_the_other_front_and_the_default_comes_back(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    async with two_fronts(database_url, nats_url, redis_url, store, platform_prompt=" ") as fronts:
        for prompt in ("default", await fronts.admin.write_prompt("You are the voice of Halden."), "default"):
            await fronts.admin.activate(prompt)
            fronts.model.script(search("leave"), say(f"{_LEAVE} [1]"))
            assert (await fronts.anna.ask("leave?")).outcome == "grounded"
    told = [request.messages[0].content for request in fronts.model.requests]
    platform = [PLATFORM_PROMPT, "You are the voice of Halden.", PLATFORM_PROMPT]
    assert [text.split("\n\n")[0] for text in told] == [one for one in platform for _ in ("route", "answer")]
    for answer in told[1::2]:
        assert answer.index(GROUNDING_RULES) < answer.index(_LEAVE)
    assert len({request.prompt.id for request in fronts.model.requests}) == 4
