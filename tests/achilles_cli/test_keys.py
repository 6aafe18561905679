"""`achilles keys`, as a person calls it, against a running front."""

import asyncio
import json
import sys
from uuid import uuid4

import pytest

from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.oidc_issuer import AUDIENCE, OidcIssuer
from tests.support.scripted_model import ScriptedModel

pytestmark = [pytest.mark.integration, pytest.mark.p1]


async def _call(front: RunningFront, *arguments: str, **environment: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.achilles_cli.main", "keys", *arguments, "--url", front.url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    output, errors = await asyncio.wait_for(process.communicate(), timeout=60)
    return process.returncode or 0, output.decode().strip(), errors.decode().strip()


async def test_a_key_is_made_listed_and_revoked(database_url: str, nats_url: str, redis_url: str) -> None:
    settings = make_front_settings(database_url, nats_url, redis_url, "http://127.0.0.1:1")
    async with running_front(settings, ScriptedModel()) as front:
        code, secret, said = await _call(front, "create", "[my] tool", "--days", "7", "--as", "hana")
        assert (code, secret[:3], said) == (0, "ak-", "This secret is shown once:")
        listed = json.loads((await _call(front, "list", "--as", "hana", "--json"))[1])
        assert [(one["name"], one["scopes"]) for one in listed] == [("[my] tool", ["chat", "models"])]
        _, table, _ = await _call(front, "list", "--as", "hana")
        assert "[my] tool" in table
        assert secret not in table
        code, _, said = await _call(front, "revoke", str(uuid4()), "--as", "hana")
        assert code == 2
        assert said.startswith("error: There is no such thing here")
        assert (await _call(front, "revoke", listed[0]["id"], "--as", "hana"))[0] == 0
        assert json.loads((await _call(front, "list", "--as", "hana", "--json"))[1]) == []


async def test_where_there_is_no_demo_login_a_token_says_who_asks(
    database_url: str, nats_url: str, redis_url: str
) -> None:
    async with OidcIssuer().running() as issuer:
        settings = make_front_settings(
            database_url,
            nats_url,
            redis_url,
            "http://127.0.0.1:1",
            oidc_issuer=issuer.url,
            oidc_audience=AUDIENCE,
        )
        async with running_front(settings, ScriptedModel()) as front:
            code, _, said = await _call(front, "list", "--json")
            assert code == 2
            assert "ACHILLES_TOKEN" in said
            code, listed, _ = await _call(front, "list", "--json", ACHILLES_TOKEN=issuer.token())
            assert (code, listed) == (0, "[]")
