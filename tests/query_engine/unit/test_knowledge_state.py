"""What a front knows of the store, learned over HTTP and from announcements."""

from datetime import UTC, datetime, timedelta

import pytest

from services.chat_api.adapters.knowledge_client import KnowledgeClient
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from shared.events import KnowledgeChanged
from shared.knowledge_contract import StoreStatus

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_AT = datetime(2026, 11, 30, tzinfo=UTC)


class _ScriptedStatus(KnowledgeClient):
    def __init__(self, *statuses: StoreStatus) -> None:
        self._statuses = list(statuses)

    async def status(self) -> StoreStatus:
        return self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]


def _status(version: int, *, is_empty: bool = False) -> StoreStatus:
    return StoreStatus(store_id="s1", is_empty=is_empty, knowledge_version=version)


def _announcement(version: int, *, is_empty: bool, store_id: str = "s1") -> bytes:
    change = KnowledgeChanged(occurred_at=_AT, store_id=store_id, knowledge_version=version, is_empty=is_empty)
    return change.model_dump_json().encode()


def _state(*statuses: StoreStatus, fresh_for: float = 0) -> tuple[KnowledgeState, list[KnowledgeChanged]]:
    announced: list[KnowledgeChanged] = []

    async def announce(change: KnowledgeChanged) -> None:
        announced.append(change)

    state = KnowledgeState(
        _ScriptedStatus(*statuses), announce, fresh_for=timedelta(seconds=fresh_for), now=lambda: _AT
    )
    return state, announced


async def test_an_announcement_flips_the_state_at_once() -> None:
    state, _ = _state(_status(1, is_empty=True), fresh_for=3600)
    assert (await state.current()).is_empty
    await state.on_announcement(_announcement(2, is_empty=False))
    assert not (await state.current()).is_empty


async def test_a_change_that_the_store_did_not_announce_is_announced_once() -> None:
    state, announced = _state(_status(1, is_empty=True), _status(2), _status(2), _status(3))
    for _ in range(4):
        await state.current()
    assert [(change.knowledge_version, change.is_empty) for change in announced] == [(1, True), (2, False)]


async def test_another_stores_announcement_changes_nothing() -> None:
    state, announced = _state(_status(1), fresh_for=3600)
    await state.current()
    await state.on_announcement(_announcement(9, is_empty=True, store_id="other"))
    assert not (await state.current()).is_empty
    assert len(announced) == 1


async def test_an_older_status_does_not_undo_a_newer_announcement() -> None:
    state, _ = _state(_status(1, is_empty=True), _status(1, is_empty=True))
    await state.current()
    await state.on_announcement(_announcement(2, is_empty=False))
    assert not (await state.current()).is_empty
