"""Opens the models that answer and judge, and the list of what their providers take."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from urllib.parse import urlsplit

from pydantic import SecretStr

from services.chat_api.adapters.openai_judge import OpenAiJudge
from services.chat_api.adapters.openai_model import UNKNOWN_PROVIDER, OpenAiModel
from services.chat_api.adapters.price_table import PriceTable
from services.chat_api.adapters.quotes_model import QuotesModel
from services.chat_api.domain.judge import Judge
from services.chat_api.domain.model_call import ModelClient
from services.chat_api.identity_settings import is_loopback
from services.chat_api.settings import ChatApiSettings
from services.chat_api.use_cases.judged_release import Judging


async def load_prices(settings: ChatApiSettings, prices: PriceTable) -> None:
    """Beside the event loop, and only if some provider may be paid: an endpoint on this machine is on no list."""
    urls = [url for url in (settings.model_base_url, settings.judge_base_url) if url]
    if urls and (settings.price_provider or not all(is_loopback(urlsplit(url).hostname or "") for url in urls)):
        await asyncio.to_thread(prices.load)


async def open_model(settings: ChatApiSettings, prices: PriceTable, stack: AsyncExitStack) -> ModelClient:
    if not settings.model_base_url:
        return QuotesModel()
    key, silence = settings.model_api_key, settings.model_silence_timeout
    return await _open_endpoint(settings, settings.model_base_url, key, silence, prices, stack)


async def open_judging(
    settings: ChatApiSettings, prices: PriceTable, judge: Judge | None, stack: AsyncExitStack
) -> Judging | None:
    if judge is None and settings.judge_base_url:
        key, silence = settings.judge_api_key, settings.judge_timeout
        client = await _open_endpoint(settings, settings.judge_base_url, key, silence, prices, stack)
        judge = OpenAiJudge(client, settings.judge_model)
    return Judging(judge, settings.judge_scope, settings.judge_timeout) if judge else None


async def _open_endpoint(
    settings: ChatApiSettings, url: str, key: SecretStr, silence: timedelta, prices: PriceTable, stack: AsyncExitStack
) -> OpenAiModel:
    client = OpenAiModel(
        url,
        key.get_secret_value(),
        connect_timeout=settings.model_connect_timeout,
        silence_timeout=silence,
        provider=prices.provider_of(url) or UNKNOWN_PROVIDER,
    )
    await client.open()
    stack.push_async_callback(client.close)
    return client
