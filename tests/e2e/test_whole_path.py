"""From a folder of documents to a cited answer, with every side effect of the turn in its row."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.deployment import PROJECT, Deployment, running_deployment
from tests.support.front import Answer
from tests.support.rows import Rows
from tests.support.waiting import eventually
from tests.support.xquad import write_passages

pytestmark = [pytest.mark.integration, pytest.mark.p1]

_CORPUS = PROJECT / "services" / "knowledge_store" / "demo_corpus"
_LEAVE_QUESTIONS = {
    "How many days of annual leave do I have?": ("annual-leave.md", "28 days of annual leave"),
    "Wie viele Urlaubstage habe ich?": ("annual-leave.de.md", "28 Urlaubstage"),
    "Сколько дней отпуска мне положено?": ("annual-leave.ru.md", "28 дней ежегодного отпуска"),
    "我每年有多少天年假?": ("annual-leave.zh.md", "28天年假"),
}
_BANDS = "What are the salary bands?"
_EVENT_ROWS = {
    "usage": "signals.usage",
    "run": "traces.runs",
    "retrieved": "traces.retrievals",
    "accessed": "signals.accesses",
}


@pytest.fixture(scope="module")
def achilles() -> Iterator[Deployment]:
    with running_deployment() as deployment:
        yield deployment


@pytest_asyncio.fixture
async def rows(achilles: Deployment) -> AsyncIterator[Rows]:
    async with Rows.of(achilles.servers.postgres.url) as found:
        yield found


async def _ask(achilles: Deployment, who: str, question: str) -> Answer:
    async with achilles.front.person(who) as person:
        return await person.ask(question)


async def test_before_anything_is_ingested_the_turn_is_talk(achilles: Deployment, rows: Rows) -> None:
    answer = await _ask(achilles, "anna", "How many days of annual leave do I have?")
    assert answer.outcome == "conversational"
    await rows.wait_for_empty_outbox()
    assert await rows.one("SELECT is_empty FROM signals.knowledge_state") is True


async def test_the_corpus_is_ingested_once(achilles: Deployment, rows: Rows) -> None:
    added = await achilles.ingest(_CORPUS)
    assert added >= 20
    version = await rows.one("SELECT knowledge_version FROM knowledge.store_state")
    assert await achilles.ingest(_CORPUS) == 0
    assert await rows.one("SELECT knowledge_version FROM knowledge.store_state") == version
    await eventually(lambda: rows.one("SELECT NOT is_empty FROM signals.knowledge_state"))


@pytest.mark.parametrize("question", _LEAVE_QUESTIONS)
@pytest.mark.parametrize("who", ["anna", "hana"])
async def test_the_right_record_is_cited_in_four_languages(achilles: Deployment, who: str, question: str) -> None:
    document, fact = _LEAVE_QUESTIONS[question]
    answer = await _ask(achilles, who, question)
    assert answer.outcome == "grounded"
    assert fact in answer.text
    assert answer.citations[0]["record_id"].endswith(f"/people/{document}")


async def test_without_rights_there_is_a_hint_and_not_a_word_of_content(achilles: Deployment, rows: Rows) -> None:
    allowed = await _ask(achilles, "hana", _BANDS)
    refused = await _ask(achilles, "anna", _BANDS)
    assert allowed.outcome == "grounded"
    assert any("salary-bands" in one["record_id"] for one in allowed.citations)
    assert refused.outcome == "withheld"
    assert refused.hint is not None
    assert refused.hint["withheld"][0]["source_system"] == "HR confidential"
    seen = str(refused.parts)
    assert "salary-bands" not in seen
    hidden = (_CORPUS / "people" / "hr-only" / "salary-bands.md").read_text(encoding="utf-8")
    figures = {word for word in hidden.replace("|", " ").split() if "," in word and word[0].isdigit()}
    assert figures
    assert not [figure for figure in figures if figure in seen]


async def test_an_absent_topic_is_not_found(achilles: Deployment) -> None:
    answer = await _ask(achilles, "anna", "Who won the football world cup in 1954?")
    assert (answer.outcome, answer.citations, answer.hint) == ("not_found", [], None)


async def test_passages_of_a_public_data_set_answer_their_own_questions(achilles: Deployment, tmp_path: Path) -> None:
    folder = tmp_path / "xquad"
    folder.mkdir()
    questions = write_passages(folder, articles=2, passages=2)
    assert await achilles.ingest(folder) == len(questions)
    for question in questions:
        answer = await _ask(achilles, "anna", question.text)
        assert answer.outcome in ("grounded", "partial"), question
        assert f"xquad/{question.document}" in [one["record_id"] for one in answer.citations], question


async def test_a_source_can_be_opened_by_who_may_read_it_only(achilles: Deployment) -> None:
    answer = await _ask(achilles, "hana", _BANDS)
    url = next(one["url"] for one in answer.citations if "salary-bands" in one["record_id"])
    async with achilles.front.person("hana") as hana, achilles.front.person("anna") as anna:
        page, refused = await hana.client.get(url), await anna.client.get(url)
    assert (page.status_code, refused.status_code) == (200, 404)
    assert "Salary bands" in page.text
    assert "Salary bands" not in refused.text


async def _achilles_ask(achilles: Deployment, *arguments: str) -> tuple[int, str, str]:
    command = (sys.executable, "-m", "services.achilles_cli.main", "ask", *arguments, "--url", achilles.front.url)
    process = await asyncio.create_subprocess_exec(
        *command, cwd=PROJECT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await process.communicate()
    return process.returncode or 0, output.decode(), errors.decode()


async def test_the_command_line_answers_in_one_line_of_json(achilles: Deployment) -> None:
    code, output, _ = await _achilles_ask(
        achilles, "How many days of annual leave do I have?", "--as", "anna", "--json"
    )
    answer = json.loads(output)
    assert (code, output.count("\n")) == (0, 1)
    assert set(answer) == {
        *("outcome", "text", "citations", "hint", "conversation_id", "message_id", "model", "tokens_used")
    }
    assert set(answer["citations"][0]) == {"n", "record_id", "title", "url", "source_system"}
    assert (answer["outcome"], answer["model"], answer["hint"]) == ("grounded", "quotes", None)
    follow_up = ("And for trainees?", "--as", "anna", "--conversation", answer["conversation_id"])
    code, output, errors = await _achilles_ask(achilles, *follow_up)
    assert code == 0
    assert "[1]" in output
    assert "annual-leave.md" in errors


async def test_the_command_line_says_what_is_wrong(achilles: Deployment) -> None:
    for arguments, hint in (
        ((" ",), "empty"),
        (("hi", "--as", "nobody"), "anna"),
        (("hi", "--conversation", "x"), "no"),
    ):
        code, output, errors = await _achilles_ask(achilles, *arguments)
        assert (code, output) == (2, "")
        assert hint in errors
        assert "Traceback" not in errors


async def test_each_event_of_these_turns_is_one_row(achilles: Deployment, rows: Rows) -> None:
    async with achilles.front.person("hana") as hana:
        answer = await hana.ask(_BANDS)
        message = f"/api/v1/messages/{answer.message_id}"
        await hana.client.put(f"{message}/feedback", json={"value": 1})
        opened = await hana.client.post(f"{message}/citations/{answer.citations[0]['n']}/open", json={"click_id": "k"})
        assert opened.status_code == 202
    await rows.wait_for_empty_outbox()
    cited = await rows.one("SELECT sum(jsonb_array_length(citations)) FROM chat.messages")
    searched = await rows.one("SELECT count(*) FROM chat.turns WHERE outcome <> 'conversational'")
    assert await rows.count("signals.accesses") == cited + 1
    assert await rows.count("traces.retrievals") == searched
    assert await rows.count("traces.runs") == await rows.count("signals.usage") > searched
    assert await rows.one("SELECT feedback FROM chat.messages WHERE id = $1::uuid", answer.message_id) == 1
    assert await rows.one("SELECT count(*) FROM traces.runs WHERE prompt_version_id IS NULL") == 0
    assert await rows.count("mesh.dead_letters") == 0


async def test_a_stopped_store_is_failed_and_never_not_found(achilles: Deployment, rows: Rows) -> None:
    # A question of its own: one that was asked a moment ago may still be answered from the cache.
    question = "How many days may be carried over into the next year?"
    await achilles.services["knowledge_store"].stop()
    try:
        failed = await _ask(achilles, "anna", question)
    finally:
        await achilles.restart("knowledge_store")
    assert (failed.outcome, failed.error_code) == (None, "knowledge_unavailable")
    assert (await _ask(achilles, "anna", question)).outcome == "grounded"
    await rows.wait_for_empty_outbox()
    assert await rows.one("SELECT fault FROM traces.retrievals WHERE outcome = 'failed'") == "unreachable"


async def test_killed_broker_and_worker_cost_no_answer_and_no_row(achilles: Deployment, rows: Rows) -> None:
    before = {table: await rows.count(table) for table in _EVENT_ROWS.values()}
    question = "How many days of annual leave do I have?"

    async def turns() -> list[Answer]:
        async with achilles.front.person("anna") as anna:
            return [await anna.ask(question) for _ in range(10)]

    told = await rows.count("chat.messages")
    asking = asyncio.create_task(turns())
    await eventually(lambda: rows.count("chat.messages"), until=lambda count: count >= told + 5)
    await asyncio.gather(achilles.servers.nats.kill(), achilles.kill("signal_worker"))
    answers = await asking
    assert [answer.outcome for answer in answers] == ["grounded"] * 10
    await achilles.servers.nats.restart()
    await achilles.restart("signal_worker")
    await rows.wait_for_empty_outbox(within=120)
    after = {table: await rows.count(table) - before[table] for table in before}
    cited = sum(len(answer.citations) for answer in answers)
    assert after == {
        "signals.usage": 20,
        "traces.runs": 20,
        "traces.retrievals": 10,
        "signals.accesses": cited,
    }
    assert await rows.count("mesh.dead_letters") == 0
