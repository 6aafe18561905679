"""Past chats on the page: search, rename, delete, model choice, rating, older messages."""

from uuid import UUID

import pytest
from playwright.async_api import Locator, Page, expect

from tests.support.browser import Visitor
from tests.support.list_routes import add_conversation, add_message
from tests.support.rows import Rows
from tests.support.scripted_model import ScriptedModel, say

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.asyncio(loop_scope="session")]


def _rows_of(page: Page) -> Locator:
    return page.locator(".history-title")


async def test_searching_narrows_the_past_chats_and_escape_brings_them_back(anna: Visitor, rows: Rows) -> None:
    for title in ("Annual leave", "Отпуск", "Travel"):
        await add_message(rows, await add_conversation(rows, title=title), f"about {title}")
    await anna.page.reload()
    field = anna.page.get_by_label("Search past chats")
    await field.fill("ОТПУСК")
    await expect(_rows_of(anna.page)).to_have_text(["Отпуск"])
    await expect(anna.page.get_by_text("1 chat found.")).to_be_visible()
    await field.fill("nothing of this")
    await expect(anna.page.get_by_text("No chat holds all of these words.")).to_be_visible()
    await field.press("Escape")
    await expect(_rows_of(anna.page)).to_have_count(3)


async def test_a_chat_is_renamed_in_place_and_back(anna: Visitor, rows: Rows) -> None:
    await add_conversation(rows, title="Old name")
    await anna.page.reload()
    await anna.page.locator(".history-item").hover()
    await anna.page.get_by_role("button", name="Rename: Old name").click()
    field = anna.page.get_by_label("New name of this chat")
    await expect(field).to_be_focused()
    await field.fill("<b>New</b> name")
    await field.press("Enter")
    await expect(_rows_of(anna.page)).to_have_text(["<b>New</b> name"])
    await anna.page.get_by_role("button", name="Undo").click()
    await expect(_rows_of(anna.page)).to_have_text(["Old name"])
    await anna.page.get_by_role("button", name="Rename: Old name").click()
    await field.fill("Never")
    await field.press("Escape")
    await expect(_rows_of(anna.page)).to_have_text(["Old name"])
    assert await rows.one("SELECT title FROM chat.conversations") == "Old name"


async def test_a_chat_is_deleted_only_when_confirmed(anna: Visitor, model: ScriptedModel, rows: Rows) -> None:
    model.script(say("Hello."))
    await anna.ask("Hi")
    await expect(anna.page.locator(".answer-body")).to_have_text("Hello.")
    delete = anna.page.get_by_role("button", name="Delete: Hi")
    await anna.page.locator(".history-item").hover()
    await delete.click()
    dialog = anna.page.get_by_role("dialog", name="Delete this chat?")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await anna.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    assert await rows.count("chat.conversations") == 1
    await delete.click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(anna.page.get_by_text("Chat deleted.")).to_be_visible()
    await expect(_rows_of(anna.page)).to_have_count(0)
    await expect(anna.page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    assert await rows.count("chat.conversations") == 0


async def test_a_chosen_model_answers_a_new_chat_and_can_be_changed_back(
    anna: Visitor, model: ScriptedModel, rows: Rows
) -> None:
    model.script(say("Hello."), say("Again."))
    choice = anna.page.get_by_label("Model", exact=True)
    await choice.select_option("second-model")
    await anna.ask("Hi")
    await expect(anna.page.locator(".answer-body")).to_have_text("Hello.")
    assert await rows.one("SELECT selected_model FROM chat.conversations") == "second-model"
    assert [request.model for request in model.requests] == ["second-model"]
    await anna.page.reload()
    await expect(choice).to_have_value("second-model")
    await choice.select_option(label="quotes (default)")
    await expect(anna.page.get_by_text("The next answers come from this model.")).to_be_visible()
    assert await rows.one("SELECT count(*) FROM chat.conversations WHERE selected_model IS NULL") == 1


async def test_a_rating_can_be_taken_back(anna: Visitor, model: ScriptedModel, rows: Rows) -> None:
    model.script(say("Hello."))
    await anna.ask("Hi")
    helpful = anna.page.get_by_role("button", name="Helpful", exact=True)
    await helpful.click()
    await expect(helpful).to_have_attribute("aria-pressed", "true")
    await expect(anna.page.get_by_text("Rating saved.")).to_be_visible()
    await anna.page.get_by_role("button", name="Undo").click()
    await expect(helpful).to_have_attribute("aria-pressed", "false")
    values = "SELECT convert_from(payload, 'UTF8')::jsonb ->> 'value' AS value FROM mesh.outbox WHERE subject LIKE "
    await rows.wait_for_count("mesh.outbox WHERE subject LIKE '%rated'", 2)
    assert [row["value"] for row in await rows.all(f"{values} '%rated' ORDER BY created_at")] == ["1", None]


async def test_older_messages_come_when_they_are_asked_for(anna: Visitor, rows: Rows) -> None:
    conversation = await add_conversation(rows)
    await rows.run(
        "INSERT INTO chat.messages (id, conversation_id, role, content) "
        "SELECT gen_random_uuid(), $1, 'user', 'Message ' || n FROM generate_series(1, 160) AS n",
        UUID(conversation),
    )
    await anna.page.goto(f"{anna.front.url}/#/c/{conversation}")
    questions = anna.page.locator(".question")
    await expect(questions).to_have_count(100)
    for count in (150, 160):
        await anna.page.get_by_role("button", name="Show earlier messages").click()
        await expect(questions).to_have_count(count)
    await expect(anna.page.get_by_role("button", name="Show earlier messages")).to_have_count(0)
    await expect(questions.first).to_contain_text("Message 1")


async def test_more_past_chats_are_loaded_on_demand(anna: Visitor, rows: Rows) -> None:
    for at in range(35):
        await add_conversation(rows, title=f"Chat {at}")
    await anna.page.reload()
    await expect(_rows_of(anna.page)).to_have_count(30)
    await anna.page.get_by_role("button", name="Show more").click()
    await expect(_rows_of(anna.page)).to_have_count(35)
    await expect(_rows_of(anna.page).last).to_have_text("Chat 0")
