"""The OpenAPI document against the running front: nothing breaks it, and it does what it says."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from services.chat_api.adapters.quotes_model import QuotesModel
from tests.support.front import RunningFront, make_front_settings, running_front
from tests.support.stub_knowledge_store import StubKnowledgeStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]
_SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
_CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,unsupported_method,allow_header_conformance"
)


@pytest_asyncio.fixture
async def front(database_url: str, nats_url: str, redis_url: str) -> AsyncIterator[RunningFront]:
    async with StubKnowledgeStore().running() as store:
        store.holds("Leave is 28 days a year.")
        settings = make_front_settings(database_url, nats_url, redis_url, store.url)
        async with running_front(settings, QuotesModel()) as running:
            yield running


@pytest.mark.req("HTTP-6")
async def test_no_generated_request_breaks_the_front_or_its_own_document(front: RunningFront, tmp_path: Path) -> None:
    async with front.person("olga") as olga:
        cookie = olga.client.cookies["achilles_session"]
        status, report = await _run(
            f"{front.url}/api/v1/openapi.json",
            *("--header", f"Cookie: achilles_session={cookie}"),
            *("--checks", _CHECKS, "--phases", "examples,coverage,fuzzing", "--max-examples", "15"),
            *("--seed", "1", "--no-shrink", "--request-timeout", "20", "--continue-on-failure", "--warnings", "off"),
            # Signing out ends the session that every other operation needs.
            *("--exclude-operation-id", await _operation_id(olga.client, "/api/v1/session", "delete")),
            folder=tmp_path,
        )
    assert status == 0, report


async def _operation_id(client: httpx.AsyncClient, path: str, method: str) -> str:
    document = (await client.get("/api/v1/openapi.json")).json()
    found: str = document["paths"][path][method]["operationId"]
    return found


async def _run(*arguments: str, folder: Path) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        str(_SCHEMATHESIS),
        "run",
        *arguments,
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), timeout=420)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, output.decode(errors="replace")[-20_000:]
