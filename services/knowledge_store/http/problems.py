"""Faults as RFC 9457 problems, from their class alone. No text of an exception from elsewhere reaches the caller."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from services.knowledge_store.domain.errors import InvalidRequestError, StoreUnavailableError, UnauthorisedError
from shared.errors import AchillesError, PermanentError

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = "1"


def problem_response(error: AchillesError) -> JSONResponse:
    headers = {"cache-control": "no-store"}
    if error.retryable:
        headers["retry-after"] = RETRY_AFTER_SECONDS
    if isinstance(error, UnauthorisedError):
        headers["www-authenticate"] = "Bearer"
    body = {
        "type": f"urn:achilles:problem:{error.code}",
        "title": error.title,
        "status": error.status,
        "code": error.code,
        "detail": error.detail,
    }
    return JSONResponse(body, status_code=error.status, media_type=MEDIA_TYPE, headers=headers)


def add_problem_handlers(app: FastAPI) -> None:
    app.add_exception_handler(AchillesError, _on_own_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    for transient in (SQLAlchemyError, OSError, TimeoutError):
        app.add_exception_handler(transient, _on_unavailable)
    app.add_exception_handler(Exception, _on_defect)


def _on_own_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AchillesError)
    return problem_response(error)


def _on_invalid_request(_request: Request, error: Exception) -> JSONResponse:
    """Name the fields and what is wrong with them, not what was in them."""
    assert isinstance(error, RequestValidationError)
    faults = (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors())
    return problem_response(InvalidRequestError("; ".join(faults)))


def _on_http_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    body = {"type": "about:blank", "title": error.detail, "status": error.status_code}
    return JSONResponse(body, status_code=error.status_code, media_type=MEDIA_TYPE, headers=error.headers)


def _on_unavailable(_request: Request, error: Exception) -> JSONResponse:
    logger.warning("store_unavailable", extra={"error": type(error).__name__})
    return problem_response(StoreUnavailableError("the database does not answer; nothing is known about the result"))


def _on_defect(_request: Request, error: Exception) -> JSONResponse:
    logger.error("request_failed", extra={"error": type(error).__name__})
    return problem_response(PermanentError())
