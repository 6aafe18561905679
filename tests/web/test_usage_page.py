"""The page of usage and cost, as finance and as everybody else sees it, with a year of three hundred people."""

import csv
import re
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.support.browser import PHONE, Visitor, visiting
from tests.support.events import make_usage
from tests.support.front import RunningFront
from tests.support.rows import Rows
from tests.support.usage_calls import record_calls_at
from tests.support.usage_year import fill_year

pytestmark = [pytest.mark.integration, pytest.mark.p1, pytest.mark.asyncio(loop_scope="session")]

_LAST_DAY = date(2026, 11, 30)
_NOVEMBER = "?from=2026-11-01&to=2026-11-30"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def _filled_year(_one_database: str) -> str:
    await fill_year(_one_database, _LAST_DAY)
    return _one_database


@pytest_asyncio.fixture(loop_scope="session")
async def year(_filled_year: str, rows: Rows) -> Rows:
    """The database with the year in it."""
    return rows


@pytest_asyncio.fixture(loop_scope="session")
async def beside(_filled_year: str, rows: Rows) -> AsyncIterator[str]:
    """The database, for calls of the demo people, who have none in that year."""
    yield _filled_year
    for table in ("usage", "usage_daily"):
        await rows.run(f"DELETE FROM signals.{table} WHERE user_id IN ('anna', 'hana')")


@pytest_asyncio.fixture(loop_scope="session")
async def frank(visitor: Visitor) -> Visitor:
    await _open(visitor, "frank")
    return visitor


async def _open(visitor: Visitor, user_id: str, question: str = _NOVEMBER) -> None:
    """Signed in, and with the figures in sight."""
    response = await visitor.context.request.post(f"{visitor.front.url}/api/v1/session", data={"user_id": user_id})
    assert response.ok
    await visitor.page.goto(f"{visitor.front.url}/usage{question}")
    await expect(visitor.page.locator(".content:not([aria-busy])")).not_to_be_empty()


def _names(page: Page) -> Locator:
    return page.locator("tbody th")


async def _sum_of(rows: Rows, where: str, *values: object) -> Decimal:
    found: Decimal = await rows.one(f"SELECT sum(cost) FROM signals.usage WHERE {where}", *values)
    return found


async def test_finance_reads_last_month_by_department_and_takes_it_away(
    year: Rows, frank: Visitor, tmp_path: Path
) -> None:
    page = frank.page
    await expect(page.get_by_role("heading", level=1)).to_have_text("Usage and cost")
    await page.get_by_role("radio", name="Department").check()
    await expect(_names(page)).to_have_count(9)
    await expect(_names(page).first).to_contain_text("Engineering")
    await expect(_names(page).last).to_contain_text("Without a department")
    november = "occurred_at >= '2026-11-01' AND occurred_at < '2026-12-01'"
    total = await _sum_of(year, f"currency = 'USD' AND {november}")
    await expect(page.locator(".tile .cost").first).to_have_attribute("title", f"{total.normalize():f} USD")
    async with page.expect_download() as started:
        await page.get_by_role("button", name="CSV", exact=True).click()
    download = await started.value
    await expect(page.locator(".said")).to_have_text("Saved: achilles-usage-2026-11-01-to-2026-11-30.csv")
    lines = await _read_csv(download, tmp_path)
    assert sum(Decimal(line["cost"]) for line in lines if line["currency"] == "USD") == total
    assert len({line["department"] for line in lines}) == 9
    async with page.expect_download() as started:
        await page.get_by_role("button", name="FOCUS CSV").click()
    lines = await _read_csv(await started.value, tmp_path)
    assert sum(Decimal(line["BilledCost"]) for line in lines if line["BillingCurrency"] == "USD") == total


async def _read_csv(download: Any, folder: Path) -> list[dict[str, str]]:
    file = folder / download.suggested_filename
    await download.save_as(file)
    return _lines(file)


def _lines(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as opened:
        return list(csv.DictReader(opened))


async def test_a_department_is_looked_into_and_left_again(year: Rows, frank: Visitor) -> None:
    page = frank.page
    await page.get_by_role("radio", name="Department").check()
    await page.get_by_role("button", name="Sales", exact=True).click()
    chip = page.get_by_role("button", name="Show all again, not only Sales")
    await expect(chip).to_be_visible()
    await expect(_names(page)).to_have_count(30)
    await page.get_by_role("radio", name="Person").check()
    people = await year.one(
        "SELECT count(DISTINCT user_id) FROM signals.usage_daily WHERE department = 'Sales' AND day >= '2026-11-01'"
    )
    await expect(page.locator(".row-count")).to_have_text(f"{people} rows")
    await expect(_names(page)).to_have_count(50)
    await page.get_by_role("button", name=f"Show all {people}").click()
    await expect(_names(page)).to_have_count(people)
    # The address holds all of it.
    await page.reload()
    await expect(page.locator(".row-count")).to_have_text(f"{people} rows")
    await chip.click()
    await expect(page.locator(".row-count")).not_to_have_text(f"{people} rows")


async def test_unknown_cost_is_never_shown_as_nothing(year: Rows, frank: Visitor) -> None:
    page = frank.page
    await page.get_by_role("radio", name="Model").check()
    row = page.get_by_role("row").filter(has_text="house-model-70b")
    await expect(row.locator("td").first).to_have_text("unknown")
    calls = await year.one("SELECT count(*) FROM signals.usage WHERE currency IS NULL AND occurred_at >= '2026-11-01'")
    await expect(page.locator(".remarks")).to_contain_text(f"Unknown for {calls} calls.")


async def test_the_month_to_date_is_compared_with_the_same_days(visitor: Visitor, beside: str) -> None:
    now, past = datetime(2024, 11, 10, 12, tzinfo=UTC), datetime(2024, 10, 10, 12, tzinfo=UTC)
    costs = [(now, "3"), (past, "2"), (past + timedelta(days=1), "40")]
    await record_calls_at(beside, *(make_usage(occurred_at=at, cost=cost, currency="EUR") for at, cost in costs))
    await _open(visitor, "frank", "?from=2024-11-01&to=2024-11-10")
    await expect(visitor.page.locator(".tile").first).to_contain_text("+50% against Oct 1 – 10, 2024")
    await _open(visitor, "frank", "?from=2024-11-01&to=2024-11-30")
    await expect(visitor.page.locator(".tile").first).to_contain_text("-92.9% against Oct 1 – 31, 2024")


async def test_everybody_else_sees_their_own_and_is_told_when_there_is_none(visitor: Visitor, beside: str) -> None:
    page = visitor.page
    await _open(visitor, "anna", "")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Your usage")
    await expect(page.locator(".empty")).to_have_text("Nothing has been used yet.")
    hostile = "<img src=x onerror=alert(1)>"
    await record_calls_at(
        beside,
        make_usage(model=hostile, cost="0.0000012", currency="USD"),
        make_usage(user_id="hana", cost="7", currency="USD"),
    )
    await _open(visitor, "anna", f"{_NOVEMBER}&group_by=model")
    await expect(_names(page)).to_have_text([hostile])
    await expect(page.locator(".tile .cost")).to_have_text("$0.0000012")
    await expect(page.get_by_role("radio", name="Person")).to_have_count(0)
    await _open(visitor, "anna", "?from=2025-01-01&to=2025-01-31")
    await expect(page.locator(".empty")).to_have_text("Nothing was used in this period.")


async def test_the_chart_and_the_choices_work_from_the_keyboard(year: Rows, frank: Visitor) -> None:
    page, keyboard = frank.page, frank.page.keyboard
    chart = page.get_by_role("group", name=re.compile("Cost in USD by day"))
    await chart.focus()
    await keyboard.press("End")
    await expect(page.locator(".chart-said")).to_contain_text("November 30, 2026: $")
    await keyboard.press("ArrowLeft")
    await expect(page.locator(".chart-said")).to_contain_text("November 29, 2026: $")
    await page.locator("input[name=metric][value=USD]").focus()
    await keyboard.press("ArrowRight")
    await expect(page.get_by_role("group", name=re.compile("Cost in EUR by day"))).to_be_visible()
    await expect(page.locator("input[name=metric][value=EUR]")).to_be_focused()


async def test_days_in_the_wrong_order_are_not_asked_for(year: Rows, frank: Visitor) -> None:
    page = frank.page
    await page.get_by_label("Period").select_option("Other days")
    await page.get_by_label("From").fill("2026-11-20")
    await page.get_by_label("To (included)").fill("2026-11-19")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.get_by_role("button", name="Show", exact=True).click()
    assert asked == []
    await page.get_by_label("To (included)").fill("2026-11-21")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(_names(page)).to_have_count(2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nothing_scrolls_sideways_on_a_phone(
    browser: Browser, front: RunningFront, year: Rows, scheme: str
) -> None:
    async with visiting(browser, front, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme=scheme) as frank:
        for grouping in ("day", "department", "user"):
            await _open(frank, "frank", f"{_NOVEMBER}&group_by={grouping}")
            await expect(frank.page.locator(".chart")).to_be_visible()
            assert not await frank.scrolls_sideways(), grouping


@pytest.mark.req("HTTP-9")
@pytest.mark.parametrize(
    ("locale", "heading", "department"),
    [
        ("en-GB", "Usage and cost", "Department"),
        ("de-AT", "Verbrauch und Kosten", "Abteilung"),
        ("ru-RU", "Использование и затраты", "Отдел"),
        ("zh-CN", "用量与费用", "部门"),
    ],
    ids=["en", "de", "ru", "zh"],
)
async def test_the_page_speaks_the_browsers_language(
    browser: Browser, front: RunningFront, year: Rows, locale: str, heading: str, department: str
) -> None:
    async with visiting(browser, front, locale=locale) as frank:
        await _open(frank, "frank")
        await expect(frank.page.get_by_role("heading", level=1)).to_have_text(heading)
        await expect(frank.page.locator(".choice").nth(2)).to_have_text(department)
        assert "undefined" not in await frank.page.locator("body").inner_text()


async def test_a_fault_is_told_and_the_figures_come_back_when_it_is_over(year: Rows, frank: Visitor) -> None:
    page = frank.page
    await page.route("**/api/v1/usage?*", lambda route: route.abort())
    await page.get_by_role("radio", name="Model").check()
    await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    frank.expect_complaint("net::ERR_FAILED")
    await page.unroute("**/api/v1/usage?*")
    await page.get_by_role("button", name="Try again").click()
    await expect(_names(page)).to_have_count(4)
    await expect(page.get_by_role("alert")).to_be_empty()
    await page.route("**/api/v1/usage/export?*", lambda route: route.abort())
    await page.get_by_role("button", name="Parquet", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    frank.expect_complaint("net::ERR_FAILED")


async def test_nobody_in_particular_is_sent_to_sign_in(visitor: Visitor) -> None:
    await visitor.page.goto(f"{visitor.front.url}/usage")
    await expect(visitor.page.get_by_role("alert")).to_contain_text("Please sign in first.")


async def test_the_chat_leads_to_the_page(anna: Visitor) -> None:
    await anna.page.get_by_role("link", name="Usage and cost").click()
    await expect(anna.page.get_by_role("heading", level=1)).to_have_text("Your usage")
