"""Turns that build on each other, and the window that they have to fit into."""

from uuid import UUID

import httpx
import pytest

from tests.support.front import Person, make_front_settings, running_front
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_TRAINEES = "Trainees have 30 days of annual leave per calendar year."


@pytest.mark.req("TURN-1")
async def test_a_follow_up_is_reformulated_with_the_earlier_turns_in_view(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE, _TRAINEES)
    standalone = "How many days of annual leave do trainees have?"
    model.script(search("annual leave"), say(f"{_LEAVE} [1]"), search(standalone), say(f"{_TRAINEES} [2]"))
    first = await anna.ask("How much annual leave do I have?")
    second = await anna.ask("And for trainees?", conversation_id=first.conversation_id)
    assert [one.query for one in store.searches] == ["annual leave", standalone]
    assert second.text == f"{_TRAINEES} [2]"
    told = [(one.role, one.content) for one in model.requests[2].messages[1:]]
    assert told == [
        ("user", "How much annual leave do I have?"),
        ("assistant", f"{_LEAVE} [1]"),
        ("user", "And for trainees?"),
    ]


@pytest.mark.req("TURN-1")
@pytest.mark.parametrize(
    ("question", "follow_up", "searched"),
    [
        ("What is the allowance in Munich?", "In Berlin?", "What is the allowance? In Berlin?"),
        ("Wie hoch ist der Tagessatz in München?", "Und in Berlin?", "Wie hoch ist der Tagessatz? Und in Berlin?"),
        ("Какие суточные в Мюнхене?", "А в Берлине?", "Какие суточные? А в Берлине?"),
        ("慕尼黑的差旅补贴是多少？", "柏林呢？", "慕尼黑的差旅补贴是多少？ 柏林"),
    ],
)
async def test_the_embedded_answerer_takes_over_what_a_follow_up_leaves_open(
    database_url: str,
    nats_url: str,
    redis_url: str,
    store: StubKnowledgeStore,
    question: str,
    follow_up: str,
    searched: str,
) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, store.url)
    async with running_front(settings) as front, front.person() as anna:
        first = await anna.ask(question)
        await anna.ask(follow_up, conversation_id=first.conversation_id)
    assert [one.query for one in store.searches] == [question, searched]


@pytest.mark.req("BUDGET-4")
@pytest.mark.parametrize("words", [16_000, 39_000])
async def test_a_message_that_fills_the_window_is_refused_before_any_call(
    anna: Person, model: ScriptedModel, rows: Rows, words: int
) -> None:
    with pytest.raises(httpx.HTTPStatusError) as refused:
        await anna.ask("leave now " * words)
    problem = refused.value.response
    assert (problem.status_code, problem.json()["code"]) == (413, "message_too_large")
    assert problem.headers["content-type"] == "application/problem+json"
    assert model.requests == []
    assert (await rows.count("chat.conversations"), await rows.count("chat.messages")) == (0, 0)


async def test_a_long_platform_prompt_leaves_less_room_for_a_message(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, model: ScriptedModel
) -> None:
    message = "leave now " * 1_500
    model.script(say("Hello."))
    for prompt, status in (("", 200), ("word " * 5_000, 413)):
        settings = make_front_settings(database_url, nats_url, redis_url, store.url, platform_prompt=prompt)
        async with running_front(settings, model) as front, front.person() as anna:
            assert (await anna.client.post("/api/v1/chat", json={"message": message})).status_code == status


async def test_of_ten_thousand_messages_only_the_last_are_read_and_fit(
    anna: Person, model: ScriptedModel, rows: Rows
) -> None:
    model.script(say("Hello."), say("Hello again."))
    first = await anna.ask("Hi")
    await rows.run(
        "INSERT INTO chat.messages (id, conversation_id, role, content, outcome) SELECT gen_random_uuid(), $1, "
        "CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END, n || ' ' || repeat('word ', 20), "
        "CASE WHEN n % 2 = 0 THEN 'conversational' END FROM generate_series(1, 10000) n",
        UUID(first.conversation_id),
    )
    await rows.run("ANALYZE chat.messages")
    plan = await rows.all(
        "EXPLAIN SELECT * FROM chat.messages WHERE conversation_id = $1 ORDER BY position DESC LIMIT 200",
        UUID(first.conversation_id),
    )
    assert any("Index Scan Backward" in row["QUERY PLAN"] for row in plan)
    await anna.ask("Hi again", conversation_id=first.conversation_id)
    history = model.requests[1].messages[1:-1]
    assert 10 < len(history) <= 200
    assert history[0].role == "user"
    assert history[-1].content.startswith("10000 ")
