"""Bad input, other sites, and faults of the parts behind the front."""

import json
from collections.abc import AsyncIterator

import pytest

from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.scripted_model import ScriptedModel, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"message": ""}, 422),
        ({"message": " \n\t "}, 422),
        ({}, 422),
        ({"message": 7}, 422),
        ({"message": "x", "identity": {"user_id": "hana"}}, 422),
        ({"message": "x", "conversation_id": "nope"}, 404),
        ({"message": "word " * 30_000}, 413),
        ({"message": "x", "model": "not-allowed"}, 422),
        ({"message": "x", "client_message_id": ""}, 422),
        ({"message": "\ud800"}, 422),
        ({"message": "a\x00b"}, 422),
    ],
)
async def test_bad_input_gets_a_clear_problem_before_any_model_call(
    anna: Person, model: ScriptedModel, body: dict[str, object], status: int
) -> None:
    response = await anna.client.post(
        "/api/v1/chat", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert response.status_code == status
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert set(problem) >= {"type", "title", "status", "detail", "instance"}
    assert problem["status"] == status
    assert problem["instance"] == response.headers["x-request-id"]
    assert model.requests == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{}", b"[]", b'"text"', b"null"])
async def test_a_body_that_is_no_json_object_is_refused(anna: Person, content: bytes) -> None:
    response = await anna.client.post("/api/v1/chat", content=content, headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.req("HTTP-8")
async def test_a_huge_body_is_refused_whether_announced_or_not(anna: Person) -> None:
    announced = await anna.client.post("/api/v1/chat", json={"message": "x" * 2_000_000})

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 50_000

    streamed = await anna.client.post("/api/v1/chat", content=pieces(), headers={"content-type": "application/json"})
    assert (announced.status_code, streamed.status_code) == (413, 413)


@pytest.mark.req("AUTH-5")
@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}, {"sec-fetch-site": "same-site"}]
)
async def test_writes_from_another_site_are_refused(anna: Person, headers: dict[str, str]) -> None:
    response = await anna.client.post("/api/v1/chat", json={"message": "Hi"}, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "cross_site_request")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""])
async def test_a_name_that_is_not_this_computers_is_refused(front: RunningFront, host: str) -> None:
    async with front.anybody() as client:
        headers = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
        response = await client.post("/api/v1/session", json={"user_id": "anna"}, headers=headers)
        page = await client.get("/", headers={"host": host})
    assert (response.status_code, page.status_code) == (421, 421)
    assert "set-cookie" not in response.headers


async def test_an_unknown_demo_person_is_told_who_is_known(front: RunningFront) -> None:
    async with front.anybody() as client:
        response = await client.post("/api/v1/session", json={"user_id": "nobody"})
    assert response.status_code == 404
    assert "anna" in response.json()["detail"]


async def test_signing_out_ends_the_session_on_the_server(front: RunningFront, anna: Person) -> None:
    cookie = anna.client.cookies["achilles_session"]
    assert (await anna.client.delete("/api/v1/session")).status_code == 204
    async with front.anybody() as client:
        response = await client.get("/api/v1/session", headers={"cookie": f"achilles_session={cookie}"})
    assert response.status_code == 401


@pytest.mark.req("HTTP-5")
async def test_readiness_names_what_is_not_ready(front: RunningFront, store: StubKnowledgeStore) -> None:
    async with front.anybody() as client:
        assert (await client.get("/livez")).status_code == 200
        assert (await client.get("/readyz")).status_code == 200
        store.failing = True
        response = await client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["database"] == "ok"
    assert response.json()["checks"]["knowledge_store"] != "ok"


@pytest.mark.req("HTTP-8")
async def test_a_database_that_is_away_is_a_503_that_says_so(
    nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    settings = make_front_settings("postgresql://nobody:x@127.0.0.1:1/none", nats_url, redis_url, store.url)
    async with running_front(settings, ScriptedModel()) as front, front.anybody() as client:
        response = await client.post("/api/v1/session", json={"user_id": "anna"})
    assert response.status_code == 503
    assert response.json()["code"] == "storage_unavailable"
    assert response.headers["retry-after"]


async def test_pages_load_nothing_from_elsewhere(front: RunningFront) -> None:
    async with front.anybody() as client:
        page = await client.get("/")
        assert (await client.head("/")).status_code == 200
        wrong = await client.post("/", json={})
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"]
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "https://" not in page.text
    assert "http://" not in page.text


@pytest.mark.req("HTTP-6")
async def test_a_refused_method_is_told_every_method_of_the_path(anna: Person) -> None:
    refused = await anna.client.request("OPTIONS", "/api/v1/session")
    assert (refused.status_code, refused.headers["allow"]) == (405, "DELETE, GET, POST")


@pytest.mark.req("HTTP-9")
async def test_problems_and_pages_come_in_the_callers_language(anna: Person) -> None:
    german = {"accept-language": "de-DE,de;q=0.9"}
    problem = await anna.client.post("/api/v1/chat", json={"message": " "}, headers=german)
    assert problem.json()["title"] == "Die Nachricht ist leer"
    assert problem.headers["content-language"] == "de"
    page = await anna.client.get("/sources/unknown.md", headers={"accept-language": "zh-CN"})
    assert 'lang="zh"' in page.text
    assert "未" in page.text or "无" in page.text


@pytest.mark.req("HTTP-9")
async def test_a_question_in_no_language_is_answered_in_the_preferred_one(
    anna: Person, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    model.script(search("42"), search("Wo?"))
    russian = {"accept-language": "ru"}
    anna.client.headers.update(russian)
    assert "нашлось" in (await anna.ask("42")).text
    assert "gefunden" in (await anna.ask("Wo finde ich die Regeln für Reisen?")).text
