"""Opens every resource of the front once and builds what the routes need."""

from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.adapters.candidate_cache import CandidateCache
from services.chat_api.adapters.knowledge_client import KnowledgeClient
from services.chat_api.adapters.openai_model import UNKNOWN_PROVIDER
from services.chat_api.adapters.price_table import PriceTable
from services.chat_api.adapters.tokenizers import Tokenizers
from services.chat_api.adapters.web_search import WebSearchClient
from services.chat_api.domain.budget import Window
from services.chat_api.domain.judge import Judge
from services.chat_api.domain.model_call import ModelClient
from services.chat_api.domain.runtime_rules import ModelList, RuntimeRules
from services.chat_api.domain.tool_calls import SEARCH_KNOWLEDGE, WEB_SEARCH
from services.chat_api.http.front import Front
from services.chat_api.http.ways_in import WaysIn
from services.chat_api.settings import ChatApiSettings
from services.chat_api.storage.setting_revisions import SETTINGS_CHANNEL
from services.chat_api.use_cases.change_conversation import ChangeConversation
from services.chat_api.use_cases.change_settings import ChangeSettings
from services.chat_api.use_cases.delete_conversation import DeleteConversation
from services.chat_api.use_cases.export_usage import ExportUsage
from services.chat_api.use_cases.finalise_turn import EVENT_SOURCE, FinaliseTurn
from services.chat_api.use_cases.judged_release import Judging
from services.chat_api.use_cases.knowledge_state import KnowledgeState
from services.chat_api.use_cases.loop_health import ReadLoopHealth
from services.chat_api.use_cases.models import ModelDirectory
from services.chat_api.use_cases.note_store_canary import NoteStoreCanary
from services.chat_api.use_cases.open_source import OpenSource
from services.chat_api.use_cases.platform_prompts import PlatformPrompts
from services.chat_api.use_cases.price_calls import PriceCalls
from services.chat_api.use_cases.rate_message import RateMessage
from services.chat_api.use_cases.read_access_signals import ReadAccessSignals
from services.chat_api.use_cases.read_conversations import ReadConversations
from services.chat_api.use_cases.read_usage import ReadUsage
from services.chat_api.use_cases.reap_lapsed_turns import ReapLapsedTurns
from services.chat_api.use_cases.run_chat_turn import RunChatTurn
from services.chat_api.use_cases.running_turns import RunningTurns
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from services.chat_api.use_cases.search_knowledge import SearchKnowledge
from services.chat_api.use_cases.search_web import SearchWeb
from services.chat_api.use_cases.settle_dead_letters import SettleDeadLetters
from services.chat_api.use_cases.start_turn import StartTurn
from services.chat_api.use_cases.stop_turn import STOP_CHANNEL, StopTurn
from services.chat_api.use_cases.tool_directory import ToolDirectory
from services.chat_api.use_cases.tools import Tool
from services.chat_api.use_cases.turn_limits import TurnLimits
from services.chat_api.use_cases.turn_metrics import TurnMetrics
from services.chat_api.use_cases.turn_settings import TurnSettings
from services.chat_api.wiring_identity import open_ways_in
from services.chat_api.wiring_models import load_prices, open_judging, open_model
from shared.background import running
from shared.database.engine import make_engine
from shared.database.listener import NotificationListener, WakeSignal
from shared.database.metrics import watch_database
from shared.events import KnowledgeChanged
from shared.events.streams import ALL_STREAMS
from shared.health import Check, database_check
from shared.messaging.bus import Bus
from shared.messaging.canary import CanarySender
from shared.messaging.loop_health import OUR_CONSUMERS
from shared.messaging.loop_metrics import LoopMetrics
from shared.messaging.outbox import enqueue
from shared.messaging.relay import OutboxRelay, RelayPolicy
from shared.messaging.relay_metrics import RelayMetrics
from shared.metrics import make_registry

_LEASE_MARGIN = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Resources:
    """What is opened once. Only PostgreSQL is needed to serve; the rest may come and go."""

    engine: AsyncEngine
    bus: Bus
    cache: CandidateCache
    knowledge: KnowledgeClient
    metrics: TurnMetrics
    relay_metrics: RelayMetrics
    loop_metrics: LoopMetrics
    web: WebSearchClient | None
    prices: PriceTable = field(default_factory=PriceTable)


def make_resources(settings: ChatApiSettings) -> Resources:
    """Connects to nothing yet."""
    engine = make_engine(settings.dsn, application_name="achilles-chat-api", pool_size=20)
    registry = make_registry("chat_api")
    watch_database(engine, registry)
    return Resources(
        engine=engine,
        bus=Bus(
            settings.bus_url,
            name="chat_api",
            provision=ALL_STREAMS if settings.nats_provision else (),
            replicas=settings.nats_replicas,
        ),
        cache=CandidateCache(
            settings.redis_url.get_secret_value(),
            expire_after=settings.cache_expire_after,
            pause_after_fault=settings.cache_pause_after_fault,
        ),
        knowledge=KnowledgeClient(
            settings.knowledge_url,
            settings.knowledge_token.get_secret_value(),
            timeout=settings.knowledge_timeout,
            status_timeout=settings.knowledge_status_timeout,
        ),
        metrics=TurnMetrics(registry),
        relay_metrics=RelayMetrics(registry),
        loop_metrics=LoopMetrics(engine, OUR_CONSUMERS, registry),
        web=WebSearchClient(settings.web_search_url, timeout=settings.web_search_timeout)
        if settings.web_search_url
        else None,
    )


def readiness_checks(resources: Resources) -> dict[str, Check]:
    """Without the database nothing can be answered. NATS and the cache are no part of answering."""

    async def knowledge() -> None:
        await resources.knowledge.status()

    return {"database": database_check(resources.engine), "knowledge_store": knowledge}


@asynccontextmanager
async def open_front(
    settings: ChatApiSettings,
    resources: Resources,
    *,
    model: ModelClient | None = None,
    judge: Judge | None = None,
) -> AsyncIterator[Front]:
    """Everything runs inside; on the way out running turns are stored first, then resources close."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback(resources.engine.dispose)
        stack.push_async_callback(resources.knowledge.close)
        stack.push_async_callback(resources.cache.close)
        if resources.web:
            stack.push_async_callback(resources.web.close)
        await load_prices(settings, resources.prices)
        client = model or await open_model(settings, resources.prices, stack)
        judging = await open_judging(settings, resources.prices, judge, stack)
        turns = RunningTurns()
        resources.metrics.watch(turns)
        resources.relay_metrics.watch(resources.bus)
        state = _make_knowledge_state(settings, resources)
        ways_in = open_ways_in(settings, resources.engine, stack, _now)
        front = _make_front(settings, resources, client, turns, state, judging, ways_in)
        resources.bus.listen(KnowledgeChanged.subject, state.on_announcement)
        resources.bus.start()
        stack.push_async_callback(resources.bus.stop)
        for background in _background_work(settings, resources, front):
            await stack.enter_async_context(running(background))
        stack.push_async_callback(turns.close, settings.finalise_deadline)
        yield front


def _make_knowledge_state(settings: ChatApiSettings, resources: Resources) -> KnowledgeState:
    async def announce(change: KnowledgeChanged) -> None:
        async with resources.engine.begin() as connection:
            await enqueue(connection, [change], source=EVENT_SOURCE)

    return KnowledgeState(resources.knowledge, announce, fresh_for=settings.knowledge_fresh_for, now=_now)


def _make_front(
    settings: ChatApiSettings,
    resources: Resources,
    client: ModelClient,
    turns: RunningTurns,
    state: KnowledgeState,
    judging: Judging | None,
    ways_in: WaysIn,
) -> Front:
    engine = resources.engine
    runtime = RuntimeSettings(engine, _initial_rules(settings))
    models = ModelDirectory(client, runtime, Tokenizers().counter_for)
    tools = ToolDirectory(_make_tools(settings, resources, state), runtime)
    window = Window(settings.model_window, settings.answer_reserve)
    changes = ChangeSettings(engine, runtime, _now)
    prices = PriceCalls(
        runtime, resources.prices, _now, unknown_provider=UNKNOWN_PROVIDER, stands_for=settings.price_provider
    )
    turn_settings = TurnSettings(
        window=window,
        passages_at_most=settings.top_k,
        hard_deadline=settings.turn_deadline,
        finalise_deadline=settings.finalise_deadline,
    )
    stop_turn = StopTurn(engine, turns, _now)
    return Front(
        ways_in=ways_in,
        start_turn=StartTurn(
            engine,
            models,
            window,
            TurnLimits(settings.turns_per_minute, settings.concurrent_streams),
            runtime,
            lease=settings.turn_deadline + _LEASE_MARGIN,
            now=_now,
        ),
        run_chat_turn=RunChatTurn(
            models, tools, state, FinaliseTurn(engine, _now, prices), turn_settings, _now, judging
        ),
        running_turns=turns,
        stop_turn=stop_turn,
        read_conversations=ReadConversations(engine),
        change_conversation=ChangeConversation(engine, models, _now),
        delete_conversation=DeleteConversation(engine, stop_turn),
        rate_message=RateMessage(engine, _now),
        open_source=OpenSource(engine, _now),
        knowledge=resources.knowledge,
        metrics=resources.metrics,
        loop_health=ReadLoopHealth(engine, settings.health_policy),
        dead_letters=SettleDeadLetters(engine),
        read_access_signals=ReadAccessSignals(engine),
        store_token=settings.knowledge_token,
        models=models,
        tools=tools,
        prompts=PlatformPrompts(engine, runtime, changes, window, _now),
        change_settings=changes,
        runtime=runtime,
        prices=prices,
        read_usage=ReadUsage(engine),
        export_usage=ExportUsage(engine),
        append_source_links=settings.openai_source_links,
        keep_alive_every=settings.keep_alive_every,
    )


def _make_tools(settings: ChatApiSettings, resources: Resources, state: KnowledgeState) -> dict[str, Tool]:
    """Those that this deployment has what they need for, switched on or not."""
    tools: dict[str, Tool] = {
        SEARCH_KNOWLEDGE: SearchKnowledge(
            resources.knowledge, state, resources.cache, top_k=settings.top_k, timeout=settings.knowledge_timeout
        )
    }
    if resources.web:
        tools[WEB_SEARCH] = SearchWeb(
            resources.web, top_k=settings.web_search_top_k, timeout=settings.web_search_timeout
        )
    return tools


def _initial_rules(settings: ChatApiSettings) -> RuntimeRules:
    """What holds as long as no administrator changed it."""
    models = ModelList(default=settings.default_model, allowed=settings.allowed_models)
    return RuntimeRules(models, settings.platform_prompt)


def _background_work(
    settings: ChatApiSettings, resources: Resources, front: Front
) -> tuple[Coroutine[Any, Any, None], ...]:
    policy = RelayPolicy(retry_after=settings.outbox_retry_after, retry_at_most=settings.outbox_retry_at_most)
    relay = OutboxRelay(resources.engine, resources.bus, policy, resources.relay_metrics)
    stops = NotificationListener(settings.dsn, STOP_CHANNEL, front.stop_turn.on_notification)
    changed = WakeSignal(settings.dsn, SETTINGS_CHANNEL)
    settings_watch = front.runtime.watch(changed, settings.settings_watch_every)
    reaper = ReapLapsedTurns(resources.engine, _now)
    watch = front.stop_turn.watch(settings.stop_watch_every)
    work = (relay.run(), stops.run(), watch, changed.run(), settings_watch, reaper.run(settings.reap_every))
    if not settings.canary_every:
        return work
    canaries = CanarySender(resources.engine, every=settings.canary_every, source=EVENT_SOURCE, now=_now)
    store_canary = NoteStoreCanary(resources.engine, resources.knowledge)
    return (*work, canaries.run(), store_canary.run(settings.canary_every))


def _now() -> datetime:
    return datetime.now(UTC)
