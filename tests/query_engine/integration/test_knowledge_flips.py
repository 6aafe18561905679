"""A store that fills or empties: the search appears and disappears on every front, without a restart."""

import pytest

from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE
from shared.events import KnowledgeChanged
from tests.support.events import AT
from tests.support.front import Person, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say
from tests.support.stub_knowledge_store import StubKnowledgeStore
from tests.support.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.p1]


_FLIPS: tuple[tuple[int, bool, list[str]], ...] = ((2, False, [SEARCH_KNOWLEDGE]), (3, True, []))


async def _offered(person: Person, model: ScriptedModel) -> list[str]:
    """The tools that the next turn has."""
    model.script(say("Hello."))
    await person.ask("Hi")
    return [tool.name for tool in model.requests[-1].tools]


def _event_id(version: int) -> str:
    change = KnowledgeChanged(occurred_at=AT, store_id="stub", knowledge_version=version, is_empty=False)
    return str(change.event_id)


@pytest.mark.req("ROUTE-10")
async def test_a_store_that_only_speaks_http_flips_on_every_front(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    """The first front asks the store each time; the second never again, so that it learns from the first alone."""
    urls = (database_url, nats_url, redis_url, store.url)
    asking, told = ScriptedModel(), ScriptedModel()
    store.is_empty = True
    async with (
        running_front(make_front_settings(*urls, knowledge_fresh_for=0), asking) as one,
        running_front(make_front_settings(*urls, knowledge_fresh_for=3600), told) as other,
        one.person() as here,
        other.person() as there,
    ):
        assert (await _offered(here, asking), await _offered(there, told)) == ([], [])
        for version, is_empty, expected in _FLIPS:
            store.is_empty, store.version = is_empty, version
            assert await _offered(here, asking) == expected
            await eventually(lambda: _offered(there, told), until=expected.__eq__)
        events = await rows.all("SELECT event_id FROM mesh.outbox WHERE subject LIKE '%knowledge' ORDER BY created_at")
    assert [str(row["event_id"]) for row in events] == [_event_id(version) for version in (1, 2, 3)]


async def test_the_same_flip_seen_by_two_fronts_is_one_event(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, rows: Rows
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    models = ScriptedModel(), ScriptedModel()
    async with (
        running_front(settings, models[0]) as one,
        running_front(settings, models[1]) as other,
        one.person() as here,
        other.person() as there,
    ):
        assert await _offered(here, models[0]) == await _offered(there, models[1]) == [SEARCH_KNOWLEDGE]
    assert await rows.one("SELECT count(*) FROM mesh.outbox WHERE subject LIKE '%knowledge'") == 1
