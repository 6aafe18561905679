"""Asking on the page: the stream, sources, the hint, stopping, failing and trying again."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from services.chat_api.adapters.model_faults import ModelUnavailableError
from services.chat_api.domain.model_call import TextDelta
from shared.knowledge_contract import Withheld
from tests.support.browser import Visitor
from tests.support.rows import Rows
from tests.support.scripted_model import Reply, ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.asyncio(loop_scope="session")]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."
_SICK = "Sick leave is reported to the manager before ten in the morning."


async def test_a_person_signs_in_by_hand_and_is_greeted(visitor: Visitor) -> None:
    page = visitor.page
    await page.goto(visitor.front.url)
    await page.get_by_role("button", name=re.compile("Anna")).click()
    await expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    await expect(page.get_by_label("Your question")).to_be_focused()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_an_answer_streams_and_then_shows_its_sources(
    anna: Visitor, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    gate = asyncio.Event()
    store.holds(_LEAVE, _SICK)
    begun, rest = _LEAVE[:20], _LEAVE[20:]
    steps = [*say(f"{_SICK} [2] {begun}").steps, gate, *say(f"{rest} [1]").steps]
    model.script(search("leave"), Reply(steps))
    await anna.ask("leave?")
    answer = anna.page.locator(".answer")
    await expect(answer).to_contain_text("before ten in the morning")
    await expect(answer).to_have_attribute("aria-busy", "true")
    await expect(answer).not_to_contain_text("28 days")
    gate.set()
    await expect(answer).to_contain_text("28 days of annual leave")
    await expect(answer.locator(".answer-status")).to_have_text("From company knowledge")
    # Numbered in the order of the text, whatever the numbers of the passages are.
    await expect(answer.locator(".marker")).to_have_text(["1", "2"])
    await expect(answer.locator(".source-title")).to_have_text(["Page 2", "Page 1"])
    await answer.get_by_role("button", name="Source 2: Page 1").click()
    await expect(answer.get_by_role("link", name=re.compile("Page 1"))).to_be_focused()


async def test_opening_a_source_opens_a_tab_of_its_own_and_counts(
    anna: Visitor, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    await anna.ask("leave?")
    link = anna.page.get_by_role("link", name=re.compile("Page 1"))
    assert await link.get_attribute("rel") == "noopener noreferrer"
    async with anna.context.expect_page() as opened:
        await link.click()
    tab = await opened.value
    await tab.wait_for_url("**/sources/handbook/page-1.md")
    assert await tab.evaluate("window.opener") is None
    await rows.wait_for_count("mesh.outbox WHERE convert_from(payload, 'UTF8')::jsonb ->> 'kind' = 'clicked'", 1)


async def test_a_hint_says_what_is_hidden_and_whom_to_ask(
    anna: Visitor, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.withheld = (Withheld(source_system="HR files", contact="hr@example.com"),)
    model.script(search("salary"))
    await anna.ask("salary?")
    await expect(anna.page.locator(".answer-status")).to_have_text("Hidden: something exists that you may not read")
    hint = anna.page.locator(".answer-hint")
    await expect(hint).to_contain_text("HR files")
    await expect(hint.get_by_role("link")).to_have_attribute("href", "mailto:hr@example.com")


@pytest.mark.req("STREAM-8")
async def test_a_stopped_answer_reads_as_stopped_also_after_a_reload(anna: Visitor, model: ScriptedModel) -> None:
    model.script(Reply([*say("Once upon a time there was a fox. " * 10).steps, asyncio.Event()]))
    await anna.ask("Tell me a story")
    await expect(anna.page.locator(".answer")).to_contain_text("Once upon a time")
    await anna.page.get_by_role("button", name="Stop").click()
    status = anna.page.locator(".answer-status")
    await expect(status).to_have_text("Stopped by you: the answer is incomplete")
    await expect(anna.page.get_by_role("button", name="Send")).to_be_visible()
    await anna.page.reload()
    await expect(status).to_have_text("Stopped by you: the answer is incomplete")
    await expect(anna.page.get_by_role("button", name="Try again")).to_have_count(0)


async def test_a_failed_answer_can_be_tried_again_below_it(anna: Visitor, model: ScriptedModel, rows: Rows) -> None:
    model.script(Reply([ModelUnavailableError()]), say("Hello there."))
    await anna.ask("Hi")
    await expect(anna.page.locator(".answer-status")).to_have_text("Failed: the answer could not be completed")
    await anna.page.get_by_role("button", name="Try again").click()
    await expect(anna.page.locator(".answer").nth(1)).to_contain_text("Hello there.")
    shown = await anna.page.locator(".question, .answer-body").all_inner_texts()
    await anna.page.reload()
    await expect(anna.page.locator(".answer").nth(1)).to_contain_text("Hello there.")
    assert await anna.page.locator(".question, .answer-body").all_inner_texts() == shown
    assert await rows.count("chat.conversations") == 1


async def test_a_failed_answer_can_be_asked_again_after_a_reload(anna: Visitor, model: ScriptedModel) -> None:
    model.script(Reply([ModelUnavailableError()]), say("Hello there."))
    await anna.ask("Hi")
    await expect(anna.page.locator(".answer-fault")).to_be_visible()
    await anna.page.reload()
    await anna.page.get_by_role("button", name="Try again").click()
    await expect(anna.page.locator(".answer").nth(1)).to_contain_text("Hello there.")


@pytest.mark.req("STREAM-9")
async def test_a_broken_connection_is_tried_again_without_asking_twice(
    anna: Visitor, model: ScriptedModel, rows: Rows
) -> None:
    model.script(say("Hello there."))
    await anna.page.route("**/api/v1/chat", lambda route: route.abort())
    await anna.ask("Hi")
    await expect(anna.page.locator(".answer-fault")).to_contain_text("The server cannot be reached")
    await anna.page.unroute("**/api/v1/chat")
    await anna.page.get_by_role("button", name="Try again").click()
    await expect(anna.page.locator(".answer-body")).to_have_text("Hello there.")
    await expect(anna.page.locator(".question")).to_have_count(1)
    await rows.wait_for_count("chat.messages", 2)
    anna.expect_complaint("net::ERR_FAILED")


async def test_a_message_that_is_refused_comes_back_into_the_field(anna: Visitor, model: ScriptedModel) -> None:
    long = "word " * 30_000
    await anna.ask(long)
    await expect(anna.page.get_by_role("alert")).to_contain_text("The message is too large")
    await expect(anna.page.get_by_label("Your question")).to_have_value(long.strip())
    await expect(anna.page.locator(".question, .answer")).to_have_count(0)
    await expect(anna.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    model.script(say("Hello there."))
    await anna.ask("Hi")
    await expect(anna.page.locator(".answer-body")).to_have_text("Hello there.")
    await expect(anna.page.locator(".alert")).to_be_empty()
    anna.expect_complaint("status of 413")


async def test_planted_markup_and_links_do_nothing(
    anna: Visitor, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    planted = "<img src=x onerror=alert(1)> [click](javascript:alert(2)) ![p](https://evil.example/p.png) <b>bold</b>"
    await anna.page.evaluate("() => { window.alert = () => { window.acted = true; }; }")
    model.script(Reply([TextDelta(f"{planted} " * 3)]))
    await anna.ask(f"{planted}")
    body = anna.page.locator(".answer-body")
    await expect(anna.page.locator(".answer")).to_have_attribute("aria-busy", "false")
    assert await body.locator("img, a, b, script").count() == 0
    assert await anna.page.locator(".question, .history-item").locator("img, a, b, script").count() == 0
    await expect(body).to_contain_text("<b>bold</b>")
    assert await anna.page.evaluate("window.acted") is None
