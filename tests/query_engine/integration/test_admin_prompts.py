"""Platform prompts: written, compared, activated, activated back; the next turn of every front is told the new one."""

from typing import Any

import pytest

from services.chat_api.domain.prompts import PLATFORM_PROMPT
from tests.support.administrator import Administrator, administrator
from tests.support.front import Person, RunningFront
from tests.support.scripted_model import ScriptedModel, say

pytestmark = [pytest.mark.integration, pytest.mark.p1]


async def test_a_prompt_is_written_activated_and_activated_back(
    front: RunningFront, anna: Person, model: ScriptedModel
) -> None:
    async with administrator(front) as admin:
        for text in ("First.", "Second."):
            await admin.activate(await admin.write_prompt(text))
            await _ask(anna, model)
        first = (await admin.get("/prompts", order="asc")).json()["data"][0]["id"]
        await admin.activate(first)
        await _ask(anna, model)
        await admin.activate("default")
        await _ask(anna, model)
    told = [request.messages[0].content for request in model.requests]
    assert [text.split("\n", 1)[0] for text in told] == ["First.", "Second.", "First.", PLATFORM_PROMPT]


async def test_what_is_active_is_told_with_who_made_it_so(front: RunningFront) -> None:
    async with administrator(front) as admin:
        before = await admin.get("/prompts/active")
        assert (before.json()["prompt"], before.json()["text"], before.headers["etag"]) == (
            None,
            PLATFORM_PROMPT,
            '"0"',
        )
        written = await admin.write_prompt("Be brief.", "Shorter")
        answer = await admin.send("POST", f"/prompts/{written}/activate", if_match='"0"')
        assert answer.status_code == 200
        again = await admin.send("POST", f"/prompts/{written}/activate", if_match='"0"')
        assert (again.status_code, again.json()["code"]) == (412, "setting_changed")
        active = await admin.get("/prompts/active")
    assert (active.headers["etag"], active.json()["changed_by"]) == ('"1"', "olga")
    assert active.json()["prompt"]["note"] == "Shorter"


async def test_the_same_text_is_the_same_prompt(front: RunningFront) -> None:
    async with administrator(front) as admin:
        ids = [await admin.write_prompt(text, note) for text, note in (("Be brief.", "a"), (" Be brief.\n", "b"))]
        listed = (await admin.get("/prompts")).json()["data"]
    assert ids[0] == ids[1]
    assert [(one["id"], one["note"]) for one in listed] == [(ids[0], "a")]


async def test_two_versions_are_compared_line_by_line(front: RunningFront) -> None:
    async with administrator(front) as admin:
        before, after = await admin.write_prompt("One.\nTwo."), await admin.write_prompt("One.\nThree.")
        compared = (await admin.get("/prompts/compare", old=before, new=after)).json()
        same = (await admin.get("/prompts/compare", old=before, new=before)).json()
        default = (await admin.get("/prompts/compare", new=after)).json()
    assert compared["diff"].splitlines()[2:] == ["@@ -1,2 +1,2 @@", " One.", "-Two.", "+Three."]
    assert (compared["before"]["created_by"], compared["after"]["id"]) == ("olga", after)
    assert same["diff"] == ""
    assert (default["before"], f"-{PLATFORM_PROMPT}" in default["diff"]) == (None, True)


@pytest.mark.parametrize(
    "body",
    [
        {"text": ""},
        {"text": " \n"},
        {"text": "a\x00b"},
        {"text": "word " * 9_000},
        {"text": 7},
        {"text": "a", "x": 1},
        {},
    ],
)
async def test_a_prompt_that_is_empty_or_fills_the_window_is_refused(front: RunningFront, body: dict[str, Any]) -> None:
    async with administrator(front) as admin:
        answer = await admin.send("POST", "/prompts", body, if_match=None)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
        assert (await admin.get("/prompts")).json()["data"] == []


@pytest.mark.parametrize("path", ["/prompts/no-uuid", "/prompts/6f2b0c1e-6d0f-5a3e-9a57-1c8f0c7f3b5d"])
async def test_an_unknown_prompt_is_not_found_and_not_activated(front: RunningFront, path: str) -> None:
    async with administrator(front) as admin:
        assert (await admin.get(path)).status_code == 404
        assert (await admin.send("POST", f"{path}/activate")).status_code == 404
        assert (await admin.get("/changes")).json()["data"] == []


@pytest.mark.req("HTTP-7")
async def test_prompts_come_in_pages(front: RunningFront) -> None:
    async with administrator(front) as admin:
        ids = [await admin.write_prompt(f"Prompt {at}.") for at in range(5)]
        assert await _pages(admin, "desc") == ids[::-1]
        assert await _pages(admin, "asc") == ids
        assert (await admin.get("/prompts", after="6f2b0c1e-6d0f-5a3e-9a57-1c8f0c7f3b5d")).status_code == 400
        assert (await admin.get("/prompts", limit=101)).status_code == 422


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(
            ("GET", path)
            for path in ("/models", "/tools", "/tools/web_search", "/prompts", "/prompts/active", "/changes")
        ),
        *(("GET", "/prompts/compare"), ("GET", "/prompts/default"), ("PUT", "/models"), ("PUT", "/tools/web_search")),
        *(("POST", "/prompts"), ("POST", "/prompts/default/activate")),
    ],
)
async def test_only_administrators_pass(front: RunningFront, anna: Person, method: str, path: str) -> None:
    async with front.anybody() as nobody:
        assert (await nobody.request(method, f"/api/v1/admin{path}")).status_code == 401
    refused = await anna.client.request(method, f"/api/v1/admin{path}")
    assert (refused.status_code, refused.json()["code"]) == (403, "role_required")


async def _ask(person: Person, model: ScriptedModel) -> None:
    model.script(say("Hello."))
    await person.ask("Hi")


async def _pages(admin: Administrator, order: str) -> list[str]:
    found: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = (await admin.get("/prompts", limit=2, order=order, **after)).json()
        found += [one["id"] for one in page["data"]]
        if not page["has_more"]:
            return found
        after = {"after": page["last_id"]}
