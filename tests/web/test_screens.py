"""Small screens, four languages, the keyboard, and what a page must never follow."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.support.browser import PHONE, Visitor, visiting
from tests.support.front import RunningFront
from tests.support.list_routes import add_conversation
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say, search
from tests.support.stub_knowledge_store import StubKnowledgeStore, make_hit

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.asyncio(loop_scope="session")]

_LEAVE = "Every full-time employee has 28 days of annual leave per calendar year."


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nothing_scrolls_sideways_on_a_phone(
    browser: Browser, front: RunningFront, model: ScriptedModel, store: StubKnowledgeStore, rows: Rows, scheme: str
) -> None:
    await add_conversation(rows, title="A" * 80)
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    async with visiting(browser, front, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme=scheme) as anna:
        await anna.sign_in()
        assert not await anna.scrolls_sideways()
        await anna.page.get_by_label("Your question").fill("How much leave? " + "x" * 300)
        await anna.page.get_by_role("button", name="Send").tap()
        await expect(anna.page.locator(".source-title")).to_have_text(["Page 1"])
        assert not await anna.scrolls_sideways()
        await anna.page.get_by_role("button", name="Open menu").tap()
        await expect(anna.page.get_by_role("button", name="Delete: AAAA")).to_be_in_viewport()
        await anna.page.get_by_role("button", name="Rename: AAAA").tap()
        assert not await anna.scrolls_sideways()


@pytest.mark.req("HTTP-9")
@pytest.mark.parametrize(
    ("locale", "heading", "refusal"),
    [
        ("en-GB", "Sign in", "The message is too large"),
        ("ru-RU", "Вход", "Сообщение слишком длинное"),
        ("de-AT", "Anmelden", "Die Nachricht"),
        ("zh-CN", "登录", "消息"),
    ],
)
async def test_the_page_speaks_the_browsers_language(
    browser: Browser, front: RunningFront, rows: Rows, locale: str, heading: str, refusal: str
) -> None:
    async with visiting(browser, front, locale=locale) as visitor:
        page = visitor.page
        await page.goto(front.url)
        await expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        assert await page.locator("html").get_attribute("lang") == locale[:2]
        await page.get_by_role("button", name=re.compile("Anna")).click()
        await page.locator("#question").fill("слово " * 30_000)
        await page.locator("#question").press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text(refusal)
        visitor.expect_complaint("status of 413")


async def test_everything_can_be_reached_by_keyboard_alone(
    anna: Visitor, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    store.holds(_LEAVE)
    model.script(search("leave"), say(f"{_LEAVE} [1]"))
    keyboard = anna.page.keyboard
    await expect(anna.page.get_by_label("Your question")).to_be_focused()
    await keyboard.type("leave?")
    await keyboard.press("Enter")
    marker = anna.page.get_by_role("button", name="Source 1: Page 1")
    source = anna.page.get_by_role("link", name=re.compile("Page 1"))
    # The sources follow the text that cites them.
    await expect(source).to_be_attached()
    await marker.focus()
    await keyboard.press("Enter")
    await expect(source).to_be_focused()
    rename = anna.page.get_by_role("button", name="Rename: leave?")
    await rename.focus()
    await expect(rename).to_have_css("opacity", "1")
    await keyboard.press("Enter")
    await keyboard.type("Days off")
    await keyboard.press("Enter")
    renamed = anna.page.get_by_role("button", name="Rename: Days off")
    await expect(renamed).to_be_focused()


async def test_a_page_of_the_web_is_marked_and_an_address_that_acts_is_no_link(
    anna: Visitor, model: ScriptedModel, store: StubKnowledgeStore
) -> None:
    web = make_hit(_LEAVE, record_id="web-1", title="Leave law").model_copy(
        update={"url": "https://law.example.org/leave", "source_system": "Web"}
    )
    acting = make_hit("Sick leave is reported before ten in the morning.", record_id="bad-1", title="Sick", rank=2)
    store.hits = (web, acting.model_copy(update={"url": "javascript:alert(document.cookie)"}))
    model.script(search("leave"), say(f"{_LEAVE} [1] Sick leave is reported before ten in the morning. [2]"))
    await anna.ask("leave?")
    link = anna.page.get_by_role("link", name="Open an external page in a new tab: Leave law (law.example.org)")
    assert await link.get_attribute("rel") == "noopener noreferrer external"
    assert await link.get_attribute("target") == "_blank"
    await anna.page.get_by_role("button", name="Sick", exact=True).click()
    await expect(anna.page.get_by_role("alert")).to_contain_text("This source has no address that can be opened.")
    assert len(anna.context.pages) == 1


async def test_what_was_written_survives_the_end_of_the_session(anna: Visitor, model: ScriptedModel) -> None:
    await anna.context.request.delete(f"{anna.front.url}/api/v1/session")
    await anna.ask("Is this lost?")
    await expect(anna.page.get_by_role("alert")).to_have_text("Your session has ended. Please sign in again.")
    await anna.page.get_by_role("button", name=re.compile("Anna")).click()
    await expect(anna.page.get_by_label("Your question")).to_have_value("Is this lost?")


@pytest.mark.parametrize("address", ["#/c/no-such-chat", "#/c/%zz", "#/c/00000000-0000-0000-0000-000000000000"])
async def test_an_address_of_no_chat_says_so_and_starts_a_new_one(anna: Visitor, address: str) -> None:
    await anna.page.goto("about:blank")
    await anna.page.goto(f"{anna.front.url}/{address}")
    await expect(anna.page.get_by_role("alert")).to_contain_text("There is no such thing here")
    await expect(anna.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    anna.expect_complaint("status of 404")
