"""What the routes need, built once in the wiring and reached through the application's state."""

from dataclasses import dataclass
from datetime import timedelta

from fastapi import Request
from pydantic import SecretStr

from services.chat_api.adapters.knowledge_client import KnowledgeClient
from services.chat_api.http.ways_in import WaysIn
from services.chat_api.use_cases.change_conversation import ChangeConversation
from services.chat_api.use_cases.change_settings import ChangeSettings
from services.chat_api.use_cases.delete_conversation import DeleteConversation
from services.chat_api.use_cases.export_usage import ExportUsage
from services.chat_api.use_cases.loop_health import ReadLoopHealth
from services.chat_api.use_cases.models import ModelDirectory
from services.chat_api.use_cases.open_source import OpenSource
from services.chat_api.use_cases.platform_prompts import PlatformPrompts
from services.chat_api.use_cases.price_calls import PriceCalls
from services.chat_api.use_cases.rate_message import RateMessage
from services.chat_api.use_cases.read_access_signals import ReadAccessSignals
from services.chat_api.use_cases.read_conversations import ReadConversations
from services.chat_api.use_cases.read_usage import ReadUsage
from services.chat_api.use_cases.run_chat_turn import RunChatTurn
from services.chat_api.use_cases.running_turns import RunningTurns
from services.chat_api.use_cases.runtime_settings import RuntimeSettings
from services.chat_api.use_cases.settle_dead_letters import SettleDeadLetters
from services.chat_api.use_cases.start_turn import StartTurn
from services.chat_api.use_cases.stop_turn import StopTurn
from services.chat_api.use_cases.tool_directory import ToolDirectory
from services.chat_api.use_cases.turn_metrics import TurnMetrics


@dataclass(frozen=True, slots=True)
class Front:
    ways_in: WaysIn
    start_turn: StartTurn
    run_chat_turn: RunChatTurn
    running_turns: RunningTurns
    stop_turn: StopTurn
    read_conversations: ReadConversations
    change_conversation: ChangeConversation
    delete_conversation: DeleteConversation
    rate_message: RateMessage
    open_source: OpenSource
    knowledge: KnowledgeClient
    models: ModelDirectory
    append_source_links: bool
    keep_alive_every: timedelta
    metrics: TurnMetrics
    loop_health: ReadLoopHealth
    dead_letters: SettleDeadLetters
    read_access_signals: ReadAccessSignals
    store_token: SecretStr
    tools: ToolDirectory
    prompts: PlatformPrompts
    change_settings: ChangeSettings
    runtime: RuntimeSettings
    prices: PriceCalls
    read_usage: ReadUsage
    export_usage: ExportUsage


async def front_of(request: Request) -> Front:
    # Not a plain function: those are called in a thread, for each request.
    found: Front = request.app.state.front
    return found
