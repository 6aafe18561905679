"""Four outcomes, both legs, four scripts, one stable order."""

import pytest

from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore

pytestmark = [pytest.mark.integration, pytest.mark.p1]


@pytest.fixture
async def handbook(folder: KnowledgeFolder, store: RunningStore) -> RunningStore:
    folder.write("leave.md", "# Annual leave\n\nEvery employee has 28 days of annual leave a year.")
    folder.write("travel.md", "# Travel\n\nBusiness trips by train are booked in second class.")
    folder.write("leave.de.md", "# Jahresurlaub\n\nJeder Beschäftigte erhält 28 Urlaubstage im Jahr.")
    folder.write("leave.ru.md", "# Отпуск\n\nКаждый сотрудник получает 28 дней ежегодного отпуска.")
    folder.write("leave.zh.md", "# 年假\n\n每位员工每年享有二十八天的带薪年假。")
    await store.ingest(folder)
    return store


@pytest.mark.parametrize(
    ("question", "record_id"),
    [
        ("How many days of annual leave do employees have?", "handbook/leave.md"),
        ("Wie viele Urlaubstage erhalten Beschäftigte im Jahr?", "handbook/leave.de.md"),
        ("Сколько дней ежегодного отпуска получают сотрудники?", "handbook/leave.ru.md"),
        ("员工每年享有多少天带薪年假？", "handbook/leave.zh.md"),
    ],
)
async def test_other_word_forms_find_it_in_every_language(
    handbook: RunningStore, question: str, record_id: str
) -> None:
    found = await handbook.search(question)
    assert found.outcome == "hits"
    assert found.hits[0].record_id == record_id


async def test_hit_is_complete(handbook: RunningStore) -> None:
    hit = (await handbook.search("How many days of annual leave?")).hits[0]
    assert (hit.chunk_id, hit.rank, hit.title) == ("handbook/leave.md#0", 1, "Annual leave")
    assert hit.text == "# Annual leave\nEvery employee has 28 days of annual leave a year."
    assert (hit.url, hit.source_system) == ("/sources/handbook/leave.md", "handbook")
    assert hit.updated_at.tzinfo is not None


@pytest.mark.parametrize(
    "question", ["Who painted the Mona Lisa?", "Кто написал Войну и мир?", "谁发明了电话？", "???", "'\\ | & !"]
)
async def test_question_about_something_else_is_empty(handbook: RunningStore, question: str) -> None:
    found = await handbook.search(question)
    assert (found.outcome, found.hits, found.withheld) == ("empty", (), ())


async def test_same_question_gives_the_same_order(folder: KnowledgeFolder, store: RunningStore) -> None:
    for n in range(12):
        folder.write(f"copy{n}.md", "# Parking\n\nParking spaces are assigned by the reception.")
    await store.ingest(folder)
    found = await store.search("Who assigns parking spaces?", top_k=5)
    assert [hit.record_id for hit in found.hits] == sorted(hit.record_id for hit in found.hits)
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4, 5]
    assert found == await store.search("Who assigns parking spaces?", top_k=5)


async def test_empty_store_answers_empty_and_says_so(store: RunningStore) -> None:
    assert (await store.search("annual leave")).outcome == "empty"
    status = await store.status()
    assert (status.is_empty, status.knowledge_version) == (True, 0)
