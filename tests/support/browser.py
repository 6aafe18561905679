"""A real Chromium that looks at the real page, and writes down everything it complains about."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, async_playwright, expect

from tests.support.front import RunningFront

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 800}
# Two cores that others use as well.
_PATIENCE_MS = 20_000
# The page asks who is signed in, and Chromium logs the honest answer.
_NOBODY_YET = "status of 401"


def find_chromium() -> str | None:
    """ACHILLES_TEST_CHROMIUM, or one that is installed under a usual name."""
    configured = os.environ.get("ACHILLES_TEST_CHROMIUM")
    return configured or next((path for name in _NAMES if (path := shutil.which(name))), None)


@asynccontextmanager
async def running_chromium(executable: str) -> AsyncIterator[Browser]:
    # Chromium's sandbox refuses to work for root, as in most containers.
    arguments = [*_QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=arguments)
        try:
            yield browser
        finally:
            await browser.close()


class Visitor:
    """One person's browser window on a front. `complaints` holds script faults, console errors and CSP violations."""

    def __init__(self, front: RunningFront, context: BrowserContext, page: Page) -> None:
        self.front = front
        self.context = context
        self.page = page
        self.complaints: list[str] = []
        self.asked_elsewhere: list[str] = []
        page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        page.on("console", self._on_console)
        context.on("request", lambda request: self._on_request(request.url))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and _NOBODY_YET not in message.text:
            self.complaints.append(message.text)

    def _on_request(self, url: str) -> None:
        if not url.startswith((self.front.url, "data:")):
            self.asked_elsewhere.append(url)

    def expect_complaint(self, part: str) -> None:
        """A refusal that this story provokes shows in the console as well."""
        assert any(part in one for one in self.complaints), self.complaints
        self.complaints = [one for one in self.complaints if part not in one]

    async def sign_in(self, user_id: str = "anna") -> None:
        """By cookie, and opens the page."""
        response = await self.context.request.post(f"{self.front.url}/api/v1/session", data={"user_id": user_id})
        assert response.ok
        await self.page.goto(self.front.url)
        await self.page.get_by_label("Your question").wait_for()

    async def ask(self, question: str) -> None:
        """Types it and sends it with Enter; does not wait for the answer."""
        field = self.page.get_by_label("Your question")
        await field.fill(question)
        await field.press("Enter")

    async def scrolls_sideways(self) -> bool:
        wide: bool = await self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        return wide

    async def conversation_id(self) -> str:
        """Of the chat in the address."""
        return str(self.page.url).rpartition("#/c/")[2]


async def _offer_two_models(context: BrowserContext, front: RunningFront) -> None:
    """The list of models, where the front itself has no such route."""
    document = await (await context.request.get(f"{front.url}/api/v1/openapi.json")).json()
    if "/api/v1/models" in document["paths"]:
        return
    models = [{"id": name, "object": "model", "default": name == "quotes"} for name in ("quotes", "second-model")]
    await context.route("**/api/v1/models*", lambda route: route.fulfill(json={"object": "list", "data": models}))


@asynccontextmanager
async def visiting(browser: Browser, front: RunningFront, **context: Any) -> AsyncIterator[Visitor]:
    """A window without cookies. Leaving it checks that nothing was complained about and nothing asked elsewhere."""
    options = {"viewport": DESKTOP, "locale": "en-US", "reduced_motion": "reduce", **context}
    opened = await browser.new_context(**options)
    opened.set_default_timeout(_PATIENCE_MS)
    expect.set_options(timeout=_PATIENCE_MS)
    try:
        await _offer_two_models(opened, front)
        visitor = Visitor(front, opened, await opened.new_page())
        yield visitor
        assert visitor.complaints == [], visitor.complaints
        assert visitor.asked_elsewhere == [], visitor.asked_elsewhere
    finally:
        await opened.close()
