"""A front with an issuer: bearer tokens, and the browser's way through the login and back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import pytest_asyncio

from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.login_browser import Browser
from tests.support.oidc_issuer import AUDIENCE, CLIENT_ID, CLIENT_SECRET, OidcIssuer, make_key
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]

StartFront = Callable[..., Awaitable[RunningFront]]


@pytest_asyncio.fixture
async def issuer() -> AsyncIterator[OidcIssuer]:
    async with OidcIssuer().running() as running:
        yield running


@pytest_asyncio.fixture
async def start_front(
    database_url: str,
    nats_url: str,
    redis_url: str,
    store: StubKnowledgeStore,
    model: ScriptedModel,
    issuer: OidcIssuer,
) -> AsyncIterator[StartFront]:
    """Starts a front that knows the issuer, with further settings."""
    async with AsyncExitStack() as stack:

        async def start(**more: Any) -> RunningFront:
            values = {
                "oidc_issuer": issuer.url,
                "oidc_audience": AUDIENCE,
                "oidc_client_id": CLIENT_ID,
                "oidc_client_secret": CLIENT_SECRET,
                "oidc_role_map": "ops=admin",
                "oidc_keys_refresh_at_most_every": 0,
                "public_url": "http://localhost:8000",
                **more,
            }
            settings = make_front_settings(database_url, nats_url, redis_url, store.url, **values)
            return await stack.enter_async_context(running_front(settings, model))

        yield start


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.mark.req("AUTH-1", "AUTH-2")
async def test_a_bearer_token_asks_as_the_person_in_it(
    start_front: StartFront, issuer: OidcIssuer, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    issuer.person = {"sub": "u-7", "name": "Ада", "groups": ["staff", "eng"], "department": "R&D"}
    store.holds("Every employee has 28 days of leave.")
    front = await start_front()
    for key in issuer.keys:
        model.script(search("leave"), say("Every employee has 28 days of leave. [1]"))
        async with front.anybody() as client:
            client.headers.update(_bearer(issuer.token(key)))
            answer = await Person(client).ask(f"leave? {key.kid}")
        assert answer.outcome == "grounded"
        assert "set-cookie" not in client.headers
    asked_as = store.identities[-1]
    assert asked_as is not None
    assert (asked_as.user_id, asked_as.display_name, asked_as.groups) == ("u-7", "Ада", ("eng", "staff"))
    assert (asked_as.department, asked_as.roles) == ("R&D", ("user",))


@pytest.mark.req("AUTH-1")
async def test_a_refused_token_is_a_401_that_says_why_and_nothing_of_the_token(
    start_front: StartFront, issuer: OidcIssuer
) -> None:
    front = await start_front()
    async with front.anybody() as client:
        for token in (issuer.token(exp=1), issuer.token(make_key("stranger")), "no-token", "ak-" + "x" * 43):
            response = await client.get("/api/v1/conversations", headers=_bearer(token))
            problem = response.json()
            assert (response.status_code, problem["code"]) == (401, "token_refused")
            assert response.headers["www-authenticate"] == "Bearer"
            assert len(problem["detail"]) > 10
            assert token not in response.text
        response = await client.get("/api/v1/conversations", headers={"authorization": "Basic YTpi"})
        assert (response.status_code, response.json()["code"]) == (401, "sign_in_required")


@pytest.mark.req("AUTH-1")
async def test_keys_rotate_and_an_issuer_that_is_away_is_a_503_only_where_it_is_needed(
    start_front: StartFront, issuer: OidcIssuer
) -> None:
    front = await start_front(oidc_keys_fresh_for=0)
    issuer.failing = True
    async with front.anybody() as client:

        async def status(token: str) -> int:
            return (await client.get("/api/v1/conversations", headers=_bearer(token))).status_code

        assert await status(issuer.token()) == 503
        issuer.failing = False
        assert await status(issuer.token()) == 200
        issuer.keys = [make_key("ec-rotated")]
        assert await status(issuer.token()) == 200
        issuer.failing = True
        assert await status(issuer.token(sub="u-2")) == 200, "the keys it has are used on"
        assert await status(issuer.token(make_key("ec-next"))) == 503, "whether the issuer has it is not known"


async def test_tokens_that_arrive_at_once_read_the_keys_once(start_front: StartFront, issuer: OidcIssuer) -> None:
    front = await start_front(oidc_keys_refresh_at_most_every=30)
    async with front.anybody() as client:
        requests = (client.get("/api/v1/session", headers=_bearer(issuer.token(sub=f"u-{at}"))) for at in range(12))
        assert {response.status_code for response in await asyncio.gather(*requests)} == {200}
    assert issuer.key_reads == 1


@pytest.mark.req("AUTH-1")
async def test_a_browser_signs_in_at_the_issuer_and_stays_signed_in(
    start_front: StartFront, issuer: OidcIssuer, rows: Rows
) -> None:
    issuer.person = {"sub": "u-7", "name": "Ada", "groups": ["ops"]}
    front = await start_front()
    async with Browser.at(front.url) as browser:
        before = await browser.client.get("/api/v1/session")
        assert (before.status_code, before.json()["mode"]) == (401, "oidc")
        assert before.json()["login_url"] == "/api/v1/session/login"
        landed = await browser.sign_in("/sources/handbook/leave.md")
        assert (landed.status_code, landed.headers["location"]) == (303, "/sources/handbook/leave.md")
        session = (await browser.client.get("/api/v1/session")).json()
        assert (session["user"]["user_id"], session["mode"], session["anonymous"]) == ("u-7", "oidc", False)
        token = browser.client.cookies["achilles_session"]
        assert token.encode().hex() not in str(await rows.all("SELECT token_hash FROM chat.sessions"))
        assert (await browser.client.delete("/api/v1/session")).status_code == 204
        stolen = {"cookie": f"achilles_session={token}"}
        assert (await browser.client.get("/api/v1/session", headers=stolen)).status_code == 401


@pytest.mark.req("AUTH-1")
async def test_the_session_cookie_is_bound_to_the_host_and_out_of_reach_of_scripts(
    start_front: StartFront, issuer: OidcIssuer
) -> None:
    front = await start_front(public_url="https://ask.example")
    async with Browser.at(front.url) as browser:
        browser.client.headers["host"] = "ask.example"
        started = await browser.client.get("/api/v1/session/login")
        asked = dict(parse_qsl(urlsplit(started.headers["location"]).query))
        assert asked["redirect_uri"] == "https://ask.example/api/v1/session/callback"
        back = urlsplit(await browser.through_issuer(started.headers["location"]))
        login = started.headers["set-cookie"].partition(";")[0]
        landed = await browser.client.get(f"{back.path}?{back.query}", headers={"cookie": login})
        attributes = {part.strip().lower() for part in landed.headers.get_list("set-cookie")[0].split(";")[1:]}
        name, _, token = landed.headers.get_list("set-cookie")[0].partition(";")[0].partition("=")
        assert name == "__Host-achilles_session"
        assert {"httponly", "secure", "samesite=lax", "path=/"} <= attributes
        assert not any(attribute.startswith("domain") for attribute in attributes)
        for cookie, status in ((f"{name}={token}", 200), (f"achilles_session={token}", 401)):
            response = await browser.client.get("/api/v1/session", headers={"cookie": cookie})
            assert response.status_code == status


async def test_a_login_is_good_once_and_only_in_the_browser_that_began_it(
    start_front: StartFront, issuer: OidcIssuer, rows: Rows
) -> None:
    front = await start_front()
    async with Browser.at(front.url) as mine, Browser.at(front.url) as theirs:
        await theirs.to_issuer()
        back = await mine.through_issuer(await mine.to_issuer())
        assert (await theirs.come_back(back)).headers["location"] == "/?sign_in=login_refused"
        assert (await theirs.client.get("/api/v1/session")).status_code == 401
        assert (await mine.come_back(back)).headers["location"] == "/"
        assert (await mine.come_back(back)).headers["location"] == "/?sign_in=login_refused"
        assert (await mine.client.get("/api/v1/session")).status_code == 200
    assert await rows.count("chat.sessions") == 1


async def test_two_tabs_can_sign_in_side_by_side(start_front: StartFront, issuer: OidcIssuer) -> None:
    front = await start_front()
    async with Browser.at(front.url) as browser:
        first, second = await browser.to_issuer("/first"), await browser.to_issuer("/second")
        for address, landed in ((first, "/first"), (second, "/second")):
            assert (await browser.come_back(await browser.through_issuer(address))).headers["location"] == landed


async def test_signing_in_ends_the_session_before_and_promotes_no_token(
    start_front: StartFront, issuer: OidcIssuer
) -> None:
    front = await start_front()
    async with Browser.at(front.url) as browser:
        browser.client.cookies.set("achilles_session", "planted-by-somebody", domain="127.0.0.1")
        await browser.sign_in()
        first = browser.client.cookies.get("achilles_session", domain="127.0.0.1")
        assert first != "planted-by-somebody"
        await browser.sign_in()
        second = browser.client.cookies.get("achilles_session", domain="127.0.0.1")
        assert second != first
        for token, status in (("planted-by-somebody", 401), (first, 401), (second, 200)):
            headers = {"cookie": f"achilles_session={token}"}
            async with front.anybody() as client:
                assert (await client.get("/api/v1/session", headers=headers)).status_code == status


@pytest.mark.parametrize(
    ("changes", "landed"),
    [
        ({"nonce": "of another login"}, "/?sign_in=login_refused"),
        ({"nonce": None}, "/?sign_in=login_refused"),
        ({"aud": AUDIENCE}, "/?sign_in=login_refused"),
        ({"aud": [CLIENT_ID, "x"], "azp": "x"}, "/?sign_in=login_refused"),
        ({"exp": 1}, "/?sign_in=login_refused"),
        ({"iss": "https://elsewhere.example"}, "/?sign_in=login_refused"),
        ({"groups": {"not": "a list"}}, "/?sign_in=identity_unusable"),
    ],
)
async def test_an_id_token_that_does_not_belong_to_this_login_signs_nobody_in(
    start_front: StartFront, issuer: OidcIssuer, changes: dict[str, Any], landed: str
) -> None:
    issuer.id_token_changes = changes
    front = await start_front()
    async with Browser.at(front.url) as browser:
        assert (await browser.sign_in()).headers["location"] == landed
        assert (await browser.client.get("/api/v1/session")).status_code == 401


async def test_a_login_that_goes_wrong_ends_on_the_page_with_the_reason(
    start_front: StartFront, issuer: OidcIssuer
) -> None:
    front = await start_front(oidc_keys_fresh_for=0)
    async with Browser.at(front.url) as browser:
        issuer.denying = True
        assert (await browser.sign_in()).headers["location"] == "/?sign_in=refused"
        issuer.denying = False
        back = await browser.through_issuer(await browser.to_issuer())
        changed = urlsplit(back)
        query = dict(parse_qsl(changed.query))
        for wrong in ({"code": "made-up"}, {"state": "made-up"}, {"iss": "https://elsewhere.example"}):
            again = await browser.through_issuer(await browser.to_issuer())
            fresh = dict(parse_qsl(urlsplit(again).query))
            landed = await browser.come_back(f"{changed.path}?{urlencode({**fresh, **wrong})}")
            assert landed.headers["location"] == "/?sign_in=login_refused"
        for missing in ("code", "state"):
            rest = {name: value for name, value in query.items() if name != missing}
            landed = await browser.come_back(f"{changed.path}?{urlencode(rest)}")
            assert landed.headers["location"] == "/?sign_in=refused"
        issuer.failing = True
        assert (await browser.come_back(back)).headers["location"] == "/?sign_in=unavailable"
        started = await browser.client.get("/api/v1/session/login")
        assert started.headers["location"].startswith(issuer.url), "what it said of itself is still known"
        assert (await browser.client.get("/api/v1/session")).status_code == 401


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "javascript:alert(1)", ""]
)
async def test_nobody_is_sent_elsewhere_after_the_login(
    start_front: StartFront, issuer: OidcIssuer, elsewhere: str
) -> None:
    front = await start_front()
    async with Browser.at(front.url) as browser:
        assert (await browser.sign_in(elsewhere)).headers["location"] == "/"


@pytest.mark.req("BOUND-4")
async def test_an_expired_login_is_a_401_and_the_thread_goes_on_after_the_next_one(
    start_front: StartFront, issuer: OidcIssuer, model: ScriptedModel, rows: Rows
) -> None:
    front = await start_front()
    model.script(say("One."), say("Two."))
    async with Browser.at(front.url) as browser:
        await browser.sign_in()
        thread = (await Person(browser.client).ask("First")).conversation_id
        await rows.run("UPDATE chat.sessions SET expires_at = now() - interval '1 second'")
        await rows.run("UPDATE chat.conversations SET updated_at = now() - interval '10 years'")
        assert (await browser.client.get(f"/api/v1/conversations/{thread}")).status_code == 401
        await browser.sign_in()
        await Person(browser.client).ask("Second", conversation_id=thread)
    assert [message.content for message in model.requests[1].messages[1:]] == ["First", "One.", "Second"]


@pytest.mark.req("AUTH-4")
async def test_with_an_issuer_the_demo_people_and_their_old_sessions_are_gone(
    start_front: StartFront, database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore
) -> None:
    demo = make_front_settings(database_url, nats_url, redis_url, store.url)
    async with running_front(demo, ScriptedModel()) as front, front.person("olga") as olga:
        assert (await olga.client.get("/api/v1/session")).json()["mode"] == "demo"
        assert (await olga.client.get("/api/v1/session/login")).status_code == 404
        key = (await olga.client.post("/api/v1/api-keys", json={"name": "old"})).json()["secret"]
        cookie = olga.client.cookies["achilles_session"]
    front = await start_front()
    async with front.anybody() as client:
        assert (await client.get("/api/v1/session/people")).status_code == 404
        assert (await client.post("/api/v1/session", json={"user_id": "olga"})).status_code == 404
        old = {"cookie": f"achilles_session={cookie}"}
        assert (await client.get("/api/v1/session", headers=old)).status_code == 401
        assert (await client.get("/api/v1/api-keys", headers=_bearer(key))).status_code == 401


@pytest.mark.req("AUTH-5")
async def test_writes_from_another_site_are_refused_whoever_vouches_for_them(
    start_front: StartFront, issuer: OidcIssuer
) -> None:
    front = await start_front()
    async with front.anybody() as client:
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
            response = await client.post(
                "/api/v1/chat", json={"message": "Hi"}, headers={**headers, **_bearer(issuer.token())}
            )
            assert (response.status_code, response.json()["code"]) == (403, "cross_site_request")


async def test_api_keys_follow_what_the_issuer_says_at_the_next_login(
    start_front: StartFront, issuer: OidcIssuer, rows: Rows
) -> None:
    front = await start_front()
    async with Browser.at(front.url) as browser:
        await browser.sign_in()
        await browser.client.post("/api/v1/api-keys", json={"name": "tool"})
        issuer.person = {**issuer.person, "groups": ["ops"]}
        await browser.sign_in()
    [key] = await rows.all("SELECT identity ->> 'groups' AS groups, identity ->> 'roles' AS roles FROM chat.api_keys")
    assert (key["groups"], key["roles"]) == ('["ops"]', '["admin", "user"]')


@pytest.mark.req("AUTH-2")
async def test_headers_of_a_trusted_proxy_sign_people_in_and_those_of_anybody_else_do_not(
    start_front: StartFront, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds("Every employee has 28 days of leave.")
    model.script(search("leave"), say("Every employee has 28 days of leave. [1]"))
    headers = {"x-forwarded-user": "u-9", "x-forwarded-groups": "staff,ops", "x-forwarded-for": "10.0.0.1"}
    behind = await start_front(trusted_proxies="127.0.0.1/32")
    async with behind.anybody() as client:
        client.headers.update(headers)
        assert (await Person(client).ask("leave?")).outcome == "grounded"
    [asked_as] = store.identities
    assert asked_as is not None
    assert (asked_as.user_id, asked_as.groups, asked_as.roles) == ("u-9", ("ops", "staff"), ("admin", "user"))
    for elsewhere in ({"trusted_proxies": "10.0.0.0/8"}, {}):
        front = await start_front(**elsewhere)
        async with front.anybody() as client:
            assert (await client.get("/api/v1/session", headers=headers)).status_code == 401
