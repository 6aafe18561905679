"""Two fronts over the same servers and the same store: what one learns, the other has to know."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.administrator import Administrator, administrator
from tests.support.front import Person, RunningFront, make_front_settings, running_front
from tests.support.scripted_model import ScriptedModel
from tests.support.stub_knowledge_store import StubKnowledgeStore


@dataclass(frozen=True, slots=True)
class TwoFronts:
    """The administrator speaks to the first, anna asks the second."""

    admin: Administrator
    anna: Person
    model: ScriptedModel
    other: RunningFront


@asynccontextmanager
async def two_fronts(
    database_url: str, nats_url: str, redis_url: str, store: StubKnowledgeStore, **more: Any
) -> AsyncIterator[TwoFronts]:
    values = {"settings_watch_every": 3600, "models": "m-1,m-2", **more}
    settings = make_front_settings(database_url, nats_url, redis_url, store.url, **values)
    model = ScriptedModel()
    async with (
        running_front(settings, ScriptedModel()) as one,
        running_front(settings, model) as other,
        administrator(one) as admin,
        other.person("anna") as anna,
    ):
        yield TwoFronts(admin, anna, model, other)
