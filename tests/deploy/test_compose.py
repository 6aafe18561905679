"""One host by Compose: every service, closed by default, no secret written down."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.achilles_cli.settings_catalog import SETTINGS_OF, list_settings
from shared.messaging.bus_users import BUS_USERS
from tests.support.deploy_files import DEPLOY, compose_file
from tests.support.write_bus_users import BUS_USERS_FILE, bus_users_text

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_FILE = compose_file({"ACHILLES_PUBLIC_URL": "https://ask.example"})
_SERVICES: dict[str, dict[str, Any]] = _FILE["services"]
# A new volume belongs to root, and somebody has to give it away. It has no network.
_ROOT = {"nats-volume"}
_VARIABLES = {entry.variable for entry in list_settings()}
_SECRETS = {entry.variable for entry in list_settings() if entry.is_secret}


def _modules() -> set[str]:
    commands = [service.get("command", []) for service in _SERVICES.values()]
    return {command[-1] for command in commands if command[:2] == ["python", "-m"]}


def test_it_is_a_compose_file() -> None:
    specification = pytest.importorskip(
        "compose_spec", reason="in the dependency group `deploy`: uv sync --group deploy"
    )
    specification.PyCompose.from_yaml(yaml.safe_dump(_FILE)).validate()


def test_every_service_of_the_project_runs() -> None:
    wanted = {f"services.{name}" for name in SETTINGS_OF if not name.startswith("achilles")}
    assert _modules() == wanted


def test_it_refuses_to_start_without_the_public_address() -> None:
    with pytest.raises(KeyError, match=r"say in deploy/\.env where browsers reach the front"):
        compose_file({})


@pytest.mark.parametrize("name", sorted(_SERVICES))
def test_a_service_may_do_nothing_that_it_need_not(name: str) -> None:
    service = _SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["cpus"]
    user = service["user"].partition(":")[0]
    assert user.isdigit()
    assert (user == "0") == (name in _ROOT)
    if name in _ROOT:
        assert service["network_mode"] == "none"
        assert service["cap_add"] == ["CHOWN"]
    else:
        assert "cap_add" not in service


def test_only_the_front_is_published_and_only_on_this_host() -> None:
    published = {name: service["ports"] for name, service in _SERVICES.items() if "ports" in service}
    assert published == {"chat-api": ["127.0.0.1:8000:8000"]}


def test_only_the_front_has_a_way_out() -> None:
    outside = {name for name, service in _SERVICES.items() if "edge" in service.get("networks", [])}
    assert outside == {"chat-api"}
    assert _FILE["networks"]["data"]["internal"] is True


def test_every_variable_is_a_setting() -> None:
    used = {variable for service in _SERVICES.values() for variable in service.get("environment", {})}
    example = re.findall(r"^#?(ACHILLES_\w+)=", (DEPLOY / "compose.env.example").read_text(), re.MULTILINE)
    ours = {variable.removesuffix("_FILE") for variable in {*used, *example} if variable.startswith("ACHILLES_")}
    assert len(ours) > 10
    assert ours <= _VARIABLES


def test_every_secret_comes_from_a_file_that_the_service_is_given() -> None:
    for name, service in _SERVICES.items():
        given = {one if isinstance(one, str) else one["source"] for one in service.get("secrets", [])}
        assert given <= set(_FILE["secrets"]), name
        for variable, value in service.get("environment", {}).items():
            assert variable not in _SECRETS, f"{name} has {variable} in its environment"
            if variable.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in given, f"{name} does not get the file of {variable}"


def test_every_part_that_lasts_is_checked_and_started_again() -> None:
    lasting = {name: service for name, service in _SERVICES.items() if service["restart"] == "unless-stopped"}
    assert set(lasting) == {
        *("chat-api", "knowledge-store", "signal-worker", "trace-writer"),
        *("postgres", "nats", "valkey"),
    }
    assert all("healthcheck" in service for service in lasting.values())


def test_nothing_starts_before_the_schema_is_current() -> None:
    for name in ("chat-api", "knowledge-store", "signal-worker", "trace-writer"):
        assert _SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_the_users_of_the_bus_are_those_of_the_code() -> None:
    assert BUS_USERS_FILE.read_text() == bus_users_text(), "write them anew: python -m tests.support.write_bus_users"


class TestNewSecrets:
    def test_it_makes_every_secret_and_keeps_those_that_exist(self, tmp_path: Path) -> None:
        folder = tmp_path / "secrets"
        first = _make_secrets(folder)
        assert {Path(secret["file"]).name for secret in _FILE["secrets"].values()} == set(first)
        assert folder.stat().st_mode & 0o077 == 0
        assert _make_secrets(folder) == first

    def test_no_two_installations_share_one(self, tmp_path: Path) -> None:
        one, other = _make_secrets(tmp_path / "one"), _make_secrets(tmp_path / "other")
        assert {name for name in one if one[name] == other[name]} == {"oidc_client_secret", "model_api_key"}

    def test_addresses_and_passwords_belong_together(self, tmp_path: Path) -> None:
        secrets = _make_secrets(tmp_path / "secrets", NATS="tls://bus.example:4222")
        for user in (user.name for user in BUS_USERS):
            variable, password = f"BUS_PASSWORD_{user.upper()}", secrets[f"nats_url_{user}"].split(":")[2].split("@")[0]
            assert f'{variable}: "{password}"' in secrets["nats_passwords.conf"]
            assert secrets[f"nats_url_{user}"] == f"tls://{user}:{password}@bus.example:4222"
        assert secrets["postgres_password"] in secrets["database_url"]
        assert secrets["valkey_password.conf"].removeprefix("requirepass ") in secrets["redis_url"]


def _make_secrets(folder: Path, **environment: str) -> dict[str, str]:
    command = ["sh", str(DEPLOY / "new-secrets.sh"), str(folder)]
    subprocess.run(command, check=True, capture_output=True, env={"PATH": os.environ["PATH"], **environment})
    return {path.name: path.read_text().strip() for path in folder.iterdir()}
