"""Which model answers: the selected one while it is allowed, else the default."""

import pytest

from services.chat_api.adapters.quotes_model import QuotesModel
from services.chat_api.domain.prompts import PromptVersion, answer_prompt, route_prompt
from services.chat_api.domain.runtime_rules import ModelList, RuntimeRules
from services.chat_api.domain.token_count import estimate_tokens
from services.chat_api.domain.turn_record import TurnRecord
from services.chat_api.use_cases.errors import ModelNotAllowedError, SettingRefusedError
from services.chat_api.use_cases.models import ModelDirectory
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from shared.database.engine import make_engine
from tests.support.factories import make_model_run
from tests.support.scripted_model import ScriptedModel

pytestmark = [pytest.mark.unit, pytest.mark.p1]


class _Rules(RuntimeSettings):
    """Rules that a test sets."""

    def __init__(self, *allowed: str) -> None:
        self.allow(*allowed)
        super().__init__(make_engine("postgresql://unused@127.0.0.1:9/none", application_name="test"), self._now)

    def allow(self, *allowed: str) -> None:
        self._now = RuntimeRules(ModelList(default=allowed[0], allowed=allowed))

    @property
    def current(self) -> RuntimeRules:
        return self._now


def _directory(rules: RuntimeSettings) -> ModelDirectory:
    return ModelDirectory(ScriptedModel(), rules, lambda _model: estimate_tokens)


@pytest.mark.req("MODEL-1")
def test_a_model_outside_the_list_is_refused() -> None:
    directory = _directory(_Rules("m-1", "m-2"))
    directory.check_allowed("m-2")
    for name in ("m-3", "M-1", "", "m-1 "):
        with pytest.raises(ModelNotAllowedError):
            directory.check_allowed(name)


@pytest.mark.req("MODEL-2")
def test_no_selection_means_the_default() -> None:
    chosen = _directory(_Rules("m-1", "m-2")).choose(None)
    assert (chosen.name, chosen.replaced) == ("m-1", False)


def test_the_selected_model_answers_while_it_is_allowed() -> None:
    chosen = _directory(_Rules("m-1", "m-2")).choose("m-2")
    assert (chosen.name, chosen.replaced) == ("m-2", False)


@pytest.mark.req("MODEL-5")
def test_a_removed_model_is_replaced_by_the_default_and_comes_back_with_its_permission() -> None:
    rules = _Rules("m-1", "m-2")
    directory = _directory(rules)
    rules.allow("m-1")
    assert (directory.choose("m-2").name, directory.choose("m-2").replaced) == ("m-1", True)
    rules.allow("m-1", "m-2")
    assert (directory.choose("m-2").name, directory.choose("m-2").replaced) == ("m-2", False)


def test_without_an_endpoint_only_the_embedded_answerer_can_be_listed_and_asked() -> None:
    directory = ModelDirectory(QuotesModel(), _Rules("gone-1", "gone-2"), lambda _model: estimate_tokens)
    assert directory.list.allowed == ("quotes",)
    assert (directory.choose("gone-2").name, directory.choose("gone-2").replaced) == ("quotes", True)
    with pytest.raises(SettingRefusedError):
        directory.check_list(ModelList(default="gone-1", allowed=("gone-1",)))
    directory.check_list(ModelList(default="quotes", allowed=("quotes",)))


@pytest.mark.req("MODEL-3")
def test_the_model_of_an_answer_is_what_the_provider_reported_for_the_last_call_that_could_speak() -> None:
    judge = PromptVersion("judge", "Is it so?")
    runs = [
        make_model_run(route_prompt("", search_on_offer=True), model="served-route"),
        make_model_run(answer_prompt(""), model="served-answer"),
        make_model_run(judge, model="served-judge", purpose="judge"),
    ]
    assert TurnRecord(runs=runs).answered_by == "served-answer"
    assert TurnRecord(runs=runs[:1]).answered_by == "served-route"
    assert TurnRecord().answered_by is None
