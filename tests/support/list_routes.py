"""Every list of the API, with what it takes to have entries in it. A new list adds its line to `LIST_ROUTES`."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.support.front import Person
from tests.support.rows import Rows
from tests.support.stub_knowledge_store import STORE_TOKEN

# What each list holds at least when it is looked at.
ENTRIES = 5


@dataclass(frozen=True, slots=True)
class ListFixture:
    """A person signed in to a running front, and the database behind it."""

    person: Person
    rows: Rows


async def _nothing(_: ListFixture, __: str) -> None:
    """This list has no entries that come or move while it is read."""


@dataclass(frozen=True, slots=True)
class ListRoute:
    """`fill` makes the entries and returns the path to ask; `insert` adds one more; `move` changes the place of the
    entry with that id, where entries move. `settings` are those of the front, `headers` what a list asks for beside
    the session, `user_id` who may see it, `at_least` how many entries there are to walk through."""

    fill: Callable[[ListFixture], Awaitable[str]]
    insert: Callable[[ListFixture, str], Awaitable[None]] = _nothing
    move: Callable[[ListFixture, str], Awaitable[None]] = _nothing
    id_field: str = "id"
    settings: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    user_id: str = "anna"
    at_least: int = 3


def _fixed(path: str) -> Callable[[ListFixture], Awaitable[str]]:
    async def fill(_: ListFixture) -> str:
        return path

    return fill


async def add_conversation(rows: Rows, owner_id: str = "anna", title: str = "Chat") -> str:
    made = uuid4()
    await rows.run("INSERT INTO chat.conversations (id, owner_id, title) VALUES ($1, $2, $3)", made, owner_id, title)
    return str(made)


async def add_message(rows: Rows, conversation_id: str, content: str = "Text") -> str:
    made = uuid4()
    await rows.run(
        "INSERT INTO chat.messages (id, conversation_id, role, content) VALUES ($1, $2, 'user', $3)",
        made,
        conversation_id,
        content,
    )
    return str(made)


async def _conversations(fixture: ListFixture) -> str:
    for _ in range(ENTRIES):
        await add_conversation(fixture.rows)
    await add_conversation(fixture.rows, "hana")
    return "/api/v1/conversations"


async def _add_conversation(fixture: ListFixture, _: str) -> None:
    await add_conversation(fixture.rows)


async def _use_conversation(fixture: ListFixture, conversation_id: str) -> None:
    await fixture.rows.run("UPDATE chat.conversations SET updated_at = now() WHERE id = $1", conversation_id)


async def _messages(fixture: ListFixture) -> str:
    conversation = await add_conversation(fixture.rows)
    for _ in range(ENTRIES):
        await add_message(fixture.rows, conversation)
    return f"/api/v1/conversations/{conversation}/messages"


async def _add_message(fixture: ListFixture, path: str) -> None:
    await add_message(fixture.rows, path.split("/")[-2])


async def _access_signals(fixture: ListFixture) -> str:
    for _ in range(ENTRIES):
        await _add_access(fixture, "")
    return "/api/v1/access-signals"


async def _add_access(fixture: ListFixture, _: str) -> None:
    await fixture.rows.run(
        "INSERT INTO signals.accesses (event_id, message_id, conversation_id, record_id, kind, source_system, "
        "occurred_at) VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'a.md', 'cited', 'Handbook', "
        "now())"
    )


async def _api_keys(fixture: ListFixture) -> str:
    for _ in range(ENTRIES):
        await _add_api_key(fixture, "")
    return "/api/v1/api-keys"


async def _add_api_key(fixture: ListFixture, _: str) -> None:
    response = await fixture.person.client.post("/api/v1/api-keys", json={"name": "key", "scopes": ["chat"]})
    response.raise_for_status()


async def _prompts(fixture: ListFixture) -> str:
    for _ in range(ENTRIES):
        await _add_prompt(fixture, "")
    return "/api/v1/admin/prompts"


async def _add_prompt(fixture: ListFixture, _: str) -> None:
    body = {"text": f"Prompt {uuid4()}."}
    (await fixture.person.client.post("/api/v1/admin/prompts", json=body)).raise_for_status()


async def _changes(fixture: ListFixture) -> str:
    for _ in range(ENTRIES):
        await _add_change(fixture, "")
    return "/api/v1/admin/changes"


async def _add_change(fixture: ListFixture, _: str) -> None:
    await fixture.rows.run(
        "INSERT INTO chat.setting_revisions (name, revision, value, changed_by) "
        "SELECT 'tool:web_search', count(*) + 1, '{\"enabled\": false}', 'olga' FROM chat.setting_revisions"
    )


_FIVE_MODELS = {"models": "m-1,m-2,m-3,m-4"}


async def _dead_letters(fixture: ListFixture) -> str:
    for _ in range(ENTRIES):
        await _add_dead_letter(fixture, "")
    return "/api/v1/admin/dead-letters"


async def _add_dead_letter(fixture: ListFixture, _: str) -> None:
    await fixture.rows.run(
        "INSERT INTO mesh.dead_letters (consumer, event_id, subject, reason_class, payload, headers, deliveries) "
        "VALUES ('signal_worker', gen_random_uuid()::text, 'achilles.signal.v1.usage', 'unparsable', 'x', '{}', 1)"
    )


async def _see_dead_letter_again(fixture: ListFixture, letter_id: str) -> None:
    await fixture.rows.run("UPDATE mesh.dead_letters SET last_seen_at = now() WHERE id = $1", letter_id)


async def _usage(fixture: ListFixture) -> str:
    for _ in range(ENTRIES):
        await _add_usage(fixture, "")
    return "/api/v1/usage"


async def _add_usage(fixture: ListFixture, _: str) -> None:
    """Each later one is in a currency that comes later."""
    await fixture.rows.run(
        "INSERT INTO signals.usage_daily (day, user_id, department, provider, model, currency, input_tokens, "
        "cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, calls, estimated_calls, "
        "answers) SELECT current_date, 'anna', '', 'p', 'm', 'AA' || chr(65 + count(*)::int), 1, 0, 0, 1, 0, 0.1, 1, "
        "0, 1 FROM signals.usage_daily"
    )


LIST_ROUTES: dict[str, ListRoute] = {
    "/api/v1/access-signals": ListRoute(_access_signals, headers={"authorization": f"Bearer {STORE_TOKEN}"}),
    "/api/v1/admin/dead-letters": ListRoute(_dead_letters, _add_dead_letter, _see_dead_letter_again, user_id="olga"),
    "/api/v1/api-keys": ListRoute(_api_keys, _add_api_key),
    "/api/v1/conversations": ListRoute(_conversations, _add_conversation, _use_conversation),
    "/api/v1/conversations/{conversation_id}/messages": ListRoute(_messages, _add_message),
    "/api/v1/models": ListRoute(_fixed("/api/v1/models"), settings=_FIVE_MODELS),
    "/api/v1/admin/prices": ListRoute(_fixed("/api/v1/admin/prices"), settings=_FIVE_MODELS, user_id="olga"),
    "/api/v1/admin/models": ListRoute(_fixed("/api/v1/admin/models"), settings=_FIVE_MODELS, user_id="olga"),
    "/api/v1/admin/tools": ListRoute(_fixed("/api/v1/admin/tools"), user_id="olga", at_least=2),
    "/api/v1/admin/prompts": ListRoute(_prompts, _add_prompt, user_id="olga"),
    "/api/v1/admin/changes": ListRoute(_changes, _add_change, user_id="olga"),
    "/api/v1/usage": ListRoute(_usage, _add_usage, user_id="frank"),
    "/api/v1/session/people": ListRoute(_fixed("/api/v1/session/people"), id_field="user_id"),
}
