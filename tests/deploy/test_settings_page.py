"""docs/settings.md says everything that can be set."""

import pytest
from typer.testing import CliRunner

from services.achilles_cli.main import app
from services.achilles_cli.settings_catalog import SettingEntry, list_settings
from services.achilles_cli.settings_page import settings_page
from tests.support.deploy_files import PROJECT

pytestmark = [pytest.mark.unit, pytest.mark.p1]


def _entry(variable: str, service: str) -> SettingEntry:
    return next(one for one in list_settings() if one.variable == variable and service in one.services)


def test_the_page_is_current() -> None:
    page = (PROJECT / "docs/settings.md").read_text()
    assert page == settings_page(list_settings()), "write it anew: achilles settings --markdown > docs/settings.md"


def test_every_setting_says_what_it_is() -> None:
    assert [one.variable for one in list_settings() if len(one.meaning) < 10] == []


def test_whatever_is_named_like_a_secret_is_one() -> None:
    named = {one.variable for one in list_settings() if one.variable.endswith(("_TOKEN", "_KEY", "_SECRET"))}
    assert named <= {one.variable for one in list_settings() if one.is_secret}


def test_a_setting_tells_kind_bounds_and_default() -> None:
    assert _entry("ACHILLES_TOP_K", "chat_api").kind == "whole number ≥ 1 ≤ 50"
    assert _entry("ACHILLES_CANARY_EVERY", "chat_api").default == "30 s"
    assert _entry("ACHILLES_DATABASE_URL", "signal_worker").default is None
    assert _entry("ACHILLES_KNOWLEDGE_DATABASE_URL", "knowledge_store").alternative == "ACHILLES_DATABASE_URL"


def test_the_command_lists_what_holds_a_word_and_refuses_one_that_nothing_holds() -> None:
    found = CliRunner().invoke(app, ["settings", "leeway"])
    assert "ACHILLES_OIDC_LEEWAY" in found.stdout
    assert "ACHILLES_PORT" not in found.stdout
    assert CliRunner().invoke(app, ["settings", "no-such-word"]).exit_code != 0
