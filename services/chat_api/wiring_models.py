"""Opens the models that answer and judge, and the list of what their providers take."""

import asyncio
from contextlib import AsyncExitStack
from ipaddress import ip_address
from urllib.parse import urlsplit

from services.chat_api.adapters.openai_judge import OpenAiJudge
from services.chat_api.adapters.openai_model import UNKNOWN_PROVIDER, OpenAiModel
from services.chat_api.adapters.price_table import PriceTable
from services.chat_api.adapters.quotes_model import QuotesModel
from services.chat_api.domain.judge import Judge
from services.chat_api.domain.model_call import ModelClient
from services.chat_api.settings import ChatApiSettings
from services.chat_api.use_cases.judged_release import Judging


async def load_prices(settings: ChatApiSettings, prices: PriceTable) -> None:
    """Beside the event loop, and only if some provider may be paid: an endpoint on this machine is on no list."""
    urls = [url for url in (settings.model_base_url, settings.judge_base_url) if url]
    if urls and (settings.price_provider or not all(_is_here(url) for url in urls)):
        await asyncio.to_thread(prices.load)


async def open_model(settings: ChatApiSettings, prices: PriceTable, stack: AsyncExitStack) -> ModelClient:
    if not settings.model_base_url:
        return QuotesModel()
    client = OpenAiModel(
        settings.model_base_url,
        settings.model_api_key.get_secret_value(),
        connect_timeout=settings.model_connect_timeout,
        silence_timeout=settings.model_silence_timeout,
        provider=prices.provider_of(settings.model_base_url) or UNKNOWN_PROVIDER,
    )
    await client.open()
    stack.push_async_callback(client.close)
    return client


async def open_judging(
    settings: ChatApiSettings, prices: PriceTable, judge: Judge | None, stack: AsyncExitStack
) -> Judging | None:
    if judge is None and settings.judge_base_url:
        client = OpenAiModel(
            settings.judge_base_url,
            settings.judge_api_key.get_secret_value(),
            connect_timeout=settings.model_connect_timeout,
            silence_timeout=settings.judge_timeout,
            provider=prices.provider_of(settings.judge_base_url) or UNKNOWN_PROVIDER,
        )
        await client.open()
        stack.push_async_callback(client.close)
        judge = OpenAiJudge(client, settings.judge_model)
    return Judging(judge, settings.judge_scope, settings.judge_timeout) if judge else None


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
