"""Rights are applied inside the search: what one may not read neither shows nor takes anybody's place."""

import pytest

from tests.support.knowledge_folder import KnowledgeFolder
from tests.support.knowledge_store import RunningStore, make_identity

pytestmark = [pytest.mark.integration, pytest.mark.p0]

HANA, FRANK = make_identity("hana", "hr"), make_identity("frank", "finance")
QUESTION = "What is the salary band of an engineer?"
SALARY = "# Salary bands\n\nThe salary band of an engineer is 50,000 to 62,000 euros."
HR_ACCESS = (
    "access: {groups: [hr], users: [olga]}\nauthor: hana\ncontact: hana@example.com\nsource_system: HR handbook\n"
)


@pytest.fixture
async def salaries(folder: KnowledgeFolder, store: RunningStore) -> RunningStore:
    """A store whose only document is for the group hr and for olga."""
    folder.write("_access.yaml", HR_ACCESS)
    folder.write("pay.md", SALARY)
    await store.ingest(folder)
    return store


async def test_group_and_named_user_find_it_and_others_get_a_hint(salaries: RunningStore) -> None:
    outcomes = {
        who: (await salaries.search(QUESTION, make_identity(who, *groups))).outcome
        for who, groups in {"hana": ["hr"], "olga": [], "frank": ["finance"], "hr": ["olga"]}.items()
    }
    assert outcomes == {"hana": "hits", "olga": "hits", "frank": "withheld", "hr": "withheld"}


async def test_anonymous_caller_finds_only_what_is_public(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("open/_access.yaml", "access: {public: true}")
    folder.write("open/pay.md", SALARY)
    folder.write("closed/_access.yaml", "access: {groups: [hr]}")
    folder.write("closed/pay.md", SALARY)
    await store.ingest(folder)
    found = await store.search(QUESTION)
    assert [hit.record_id for hit in found.hits] == ["handbook/open/pay.md"]
    assert found.outcome == "mixed"


@pytest.mark.req("ACL-7")
async def test_hint_carries_coordinates_and_nothing_else(salaries: RunningStore) -> None:
    found = await salaries.search(QUESTION, FRANK)
    assert found.model_dump()["withheld"] == (
        {"source_system": "HR handbook", "author_principal_id": "hana", "contact": "hana@example.com"},
    )
    assert found.hits == ()
    body = found.model_dump_json()
    assert not any(secret in body for secret in ("pay.md", "Salary", "62,000", "handbook/"))


@pytest.mark.req("ACL-10")
async def test_hint_is_the_same_whatever_the_wording_and_the_number(
    folder: KnowledgeFolder, salaries: RunningStore
) -> None:
    folder.write("pay2.md", SALARY)
    await salaries.ingest(folder)
    hints = {
        (await salaries.search(question, FRANK)).model_dump_json(include={"withheld", "outcome"})
        for question in (QUESTION, "engineer salary band", "salary band engineer 62,000?")
    }
    assert len(hints) == 1


@pytest.mark.req("ACL-10")
async def test_hint_can_be_switched_off_for_a_folder_and_a_file(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("a/_access.yaml", HR_ACCESS + "hint: false\n")
    folder.write("a/pay.md", SALARY)
    folder.write("b/_access.yaml", HR_ACCESS)
    folder.write("b/pay.md", f"---\nhint: false\n---\n{SALARY}")
    await store.ingest(folder)
    assert (await store.search(QUESTION, FRANK)).outcome == "empty"
    assert (await store.search(QUESTION, HANA)).outcome == "hits"


async def test_hidden_documents_take_no_place_from_readable_ones(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("hr/_access.yaml", HR_ACCESS)
    for n in range(120):
        folder.write(f"hr/pay{n}.md", f"# Salary band of an engineer\n\nSalary band engineer {n}.")
    folder.write("open.md", f"{SALARY} It also depends on the office, on the experience and on the weather.")
    await store.ingest(folder)
    found = await store.search(QUESTION, FRANK)
    assert [hit.record_id for hit in found.hits] == ["handbook/open.md"]


async def test_revoked_right_moves_the_version_and_closes_without_embedding(
    folder: KnowledgeFolder, salaries: RunningStore
) -> None:
    before = await salaries.search(QUESTION, HANA)
    folder.write("_access.yaml", HR_ACCESS.replace("[hr]", "[board]"))
    report = await salaries.ingest(folder)
    after = await salaries.search(QUESTION, HANA)
    assert (before.outcome, after.outcome) == ("hits", "withheld")
    assert after.knowledge_version > before.knowledge_version
    assert (report.rights_changed, report.chunks_embedded) == (1, 0)


async def test_broken_access_file_closes_what_was_readable(folder: KnowledgeFolder, salaries: RunningStore) -> None:
    folder.write("_access.yaml", "access: {groups: [hr]")
    report = await salaries.ingest(folder)
    for who in (HANA, FRANK, None):
        assert (await salaries.search(QUESTION, who)).outcome == "empty"
        assert (await salaries.read("handbook/pay.md", who)).status_code == 404
    assert (report.closed, [failure.path for failure in report.failures]) == (1, ["_access.yaml"])
    folder.write("_access.yaml", HR_ACCESS)
    mended = await salaries.ingest(folder)
    assert (mended.rights_changed, mended.chunks_embedded) == (1, 0)
    assert (await salaries.search(QUESTION, HANA)).outcome == "hits"


async def test_broken_front_matter_closes_the_file(folder: KnowledgeFolder, store: RunningStore) -> None:
    folder.write("pay.md", SALARY)
    await store.ingest(folder)
    folder.write("pay.md", f"---\naccess: {{groups: hr}}\n---\n{SALARY}")
    report = await store.ingest(folder)
    assert (await store.search(QUESTION, HANA)).outcome == "empty"
    assert report.closed == 1


async def test_unreadable_and_unknown_record_are_byte_identical(salaries: RunningStore) -> None:
    hidden, unknown = await salaries.read("handbook/pay.md", FRANK), await salaries.read("handbook/none.md", FRANK)
    assert hidden.status_code == unknown.status_code == 404
    assert hidden.content == unknown.content
    assert dict(hidden.headers) == dict(unknown.headers)
    assert (await salaries.read("handbook/pay.md", HANA)).json()["text"] == SALARY
