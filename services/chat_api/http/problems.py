"""Errors as RFC 9457 problems, or as OpenAI's under `/v1`: the class of the fault picks the status."""

import logging

import httpx
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.routing import Match

from services.chat_api.http.languages import language_of
from services.chat_api.http.openai_errors import openai_error_response, speaks_openai
from services.chat_api.http.problem_texts import localised
from services.chat_api.http.request_context import request_id_of
from services.chat_api.use_cases.errors import StorageUnavailableError
from shared.errors import AchillesError, ClientError

logger = logging.getLogger(__name__)
PROBLEM_JSON = "application/problem+json"
RETRY_AFTER_SECONDS = 2
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_UNAUTHORIZED = 401
# SQLSTATE classes of a database that is away or busy: connection, conflict, resources, operator, system.
_AWAY_CLASSES = ("", "08", "40", "53", "55", "57", "58")


class SignInRequiredError(ClientError):
    code = "sign_in_required"
    title = "Sign in first"
    status = 401


class RoleRequiredError(ClientError):
    code = "role_required"
    title = "Your roles do not allow this"
    status = 403


class StoreTokenRequiredError(ClientError):
    code = "store_token_required"
    title = "Only the Knowledge Store may read this, with its service token"
    status = 401


class TokenInQueryError(ClientError):
    code = "token_in_query"
    title = "A secret does not belong in an address"

    def __init__(self) -> None:
        super().__init__("Send it as `Authorization: Bearer …`, and replace it: addresses are logged on their way.")


class CrossSiteError(ClientError):
    code = "cross_site_request"
    title = "Requests from another site are refused"
    status = 403


class WrongHostError(ClientError):
    """Somebody's page may have given its own name this computer's address."""

    code = "wrong_host"
    title = "This server is not served under that name"
    status = 421


class BodyTooLargeError(ClientError):
    code = "body_too_large"
    title = "The request body is too large"
    status = 413


class InvalidRequestError(ClientError):
    code = "invalid_request"
    title = "The request does not fit its description"
    status = 422


class NoSuchPathError(ClientError):
    code = "no_such_path"
    title = "There is nothing at this path"


class MethodNotAllowedError(ClientError):
    code = "method_not_allowed"
    title = "This path does not take that method"


_FRAMEWORK_PROBLEMS: dict[int, type[ClientError]] = {404: NoSuchPathError, 405: MethodNotAllowedError}


class InternalError(AchillesError):
    """A defect of ours. Its cause is in the log, under the request id."""


def problem_response(fault: AchillesError, request: HTTPConnection, *, status: int | None = None) -> JSONResponse:
    """In the shape that clients of this path read. `status` overrides the class's own, for faults that the framework
    raises with a status of theirs."""
    language = language_of(request)
    title, detail = localised(fault, language)
    headers = {"cache-control": "no-store", "content-language": language, "vary": "accept-language"}
    if fault.retryable:
        headers["retry-after"] = str(fault.retry_after or RETRY_AFTER_SECONDS)
    if fault.status == _UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    if speaks_openai(request.scope):
        return openai_error_response(fault, detail, headers, status=status)
    body = {
        "type": f"urn:achilles:problem:{fault.code}",
        "title": title,
        "status": status or fault.status,
        "detail": detail,
        "instance": request_id_of(request),
        "code": fault.code,
        **fault.extra,
    }
    return JSONResponse(body, status_code=status or fault.status, media_type=PROBLEM_JSON, headers=headers)


def install_problem_handlers(app: FastAPI) -> None:
    """Every way in which a request can fail ends in one of these."""

    @app.exception_handler(AchillesError)
    async def on_fault(request: Request, fault: AchillesError) -> JSONResponse:
        return problem_response(fault, request)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, fault: RequestValidationError) -> JSONResponse:
        return problem_response(InvalidRequestError(_explain(fault), param=_first_field(fault)), request)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, fault: HTTPException) -> JSONResponse:
        problem = _FRAMEWORK_PROBLEMS.get(fault.status_code, ClientError)(str(fault.detail))
        response = problem_response(problem, request, status=fault.status_code)
        response.headers.update(fault.headers or {})
        if fault.status_code == httpx.codes.METHOD_NOT_ALLOWED:
            response.headers["allow"] = _methods_at(request)
        return response

    for away in (DBAPIError, PoolTimeoutError, OSError, TimeoutError):
        app.add_exception_handler(away, _on_storage_fault)

    @app.exception_handler(Exception)
    async def on_defect(request: Request, fault: Exception) -> JSONResponse:
        logger.error("request_failed", extra={"request_id": request_id_of(request)}, exc_info=fault)
        return problem_response(InternalError(), request)


def _methods_at(request: Request) -> str:
    """All that the path takes. The framework names only those of the first route that has the path."""
    routes = request.app.router.routes
    return ", ".join(
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    )


async def _on_storage_fault(request: Request, fault: Exception) -> JSONResponse:
    if isinstance(fault, DBAPIError) and not isinstance(fault, OperationalError | InterfaceError):
        state = getattr(fault.orig, "sqlstate", None) or ""
        if state[:2] not in _AWAY_CLASSES and not fault.connection_invalidated:
            logger.error("request_failed", extra={"request_id": request_id_of(request)}, exc_info=fault)
            return problem_response(InternalError(), request)
    logger.error("storage_fault", extra={"request_id": request_id_of(request), "error": type(fault).__name__})
    return problem_response(StorageUnavailableError(), request)


def _explain(fault: RequestValidationError) -> str:
    """Which field is wrong and how, without the value that was sent."""
    return "; ".join(f"{_field_of(error['loc'])}: {error['msg']}" for error in fault.errors())


def _first_field(fault: RequestValidationError) -> str:
    return _field_of(fault.errors()[0]["loc"])


def _field_of(location: tuple[int | str, ...]) -> str:
    return ".".join(str(step) for step in location if step != "body") or "body"
