"""The front's HTTP application, without its resources."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from fastapi import Depends, FastAPI
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from services.chat_api.http import (
    access_signals,
    admin_changes,
    admin_prices,
    admin_prompts,
    admin_tools,
    api_keys,
    asyncapi,
    chat,
    conversations,
    dead_letters,
    login,
    loop,
    messages,
    models,
    openai_chat,
    openai_models,
    pages,
    session,
    usage,
    usage_export,
)
from services.chat_api.http.authentication import no_secret_in_query, require_guards
from services.chat_api.http.openapi_document import document_problems
from services.chat_api.http.problems import (
    BodyTooLargeError,
    CrossSiteError,
    WrongHostError,
    install_problem_handlers,
    problem_response,
)
from services.chat_api.http.request_context import Refusals, RequestContext
from shared.errors import ClientError
from shared.request_trace import RequestTrace

_PARTS = (
    session,
    login,
    api_keys,
    chat,
    conversations,
    messages,
    models,
    admin_prices,
    admin_tools,
    admin_prompts,
    admin_changes,
    dead_letters,
    loop,
    openai_chat,
    openai_models,
    access_signals,
    asyncapi,
    usage,
    usage_export,
    pages,
)
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_http_app(
    lifespan: Lifespan, operations: Sequence[BaseRoute], *, body_limit: int, host_names: frozenset[str]
) -> FastAPI:
    """`operations` are the routes for those who run the front: health and figures."""
    app = FastAPI(
        title="Achilles Query Engine",
        summary="Grounded answers from what the asker may see.",
        version="0.1.0",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        dependencies=[Depends(no_secret_in_query)],
    )
    install_problem_handlers(app)
    document_problems(app)
    for part in _PARTS:
        require_guards(part.router)
        app.include_router(part.router)
    app.router.routes.extend(operations)
    app.mount("/static", pages.static_files)
    refusals = Refusals(_refusal(WrongHostError()), _refusal(CrossSiteError()), _refusal(BodyTooLargeError()))
    app.add_middleware(RequestContext, refuse=refusals, body_limit=body_limit, host_names=host_names)
    app.add_middleware(RequestTrace)
    return app


def _refusal(fault: ClientError) -> ASGIApp:
    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        await problem_response(fault, HTTPConnection(scope))(scope, receive, send)

    return respond
