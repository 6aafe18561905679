"""Errors under `/v1` in OpenAI's shape, so that its clients raise the right class and show the right sentence."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse
from starlette.types import Scope

from services.chat_api.use_cases.errors import ModelNotAllowedError
from shared.errors import AchillesError, ClientError

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class OpenAiError(BaseModel):
    """`type` follows from the status; `param` names the field that is wrong, where one is."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAiErrorBody(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error": {
                    "message": "There is no such model, or it may not be used: `GET /v1/models` lists them.",
                    "type": "invalid_request_error",
                    "param": None,
                    "code": "model_not_found",
                }
            }
        }
    )

    error: OpenAiError


class UnsupportedParameterError(ClientError):
    """Something that would change what is answered, and that a grounded turn does not do."""

    code = "unsupported_parameter"
    title = "This parameter is not supported here"

    def __init__(self, param: str, detail: str) -> None:
        super().__init__(detail, param=param)


class InvalidMessagesError(ClientError):
    code = "invalid_messages"
    title = "The messages cannot be understood"

    def __init__(self, param: str, detail: str) -> None:
        super().__init__(detail, param=param)


def speaks_openai(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == "/v1" or path.startswith("/v1/")


def openai_error_response(
    fault: AchillesError, message: str, headers: Mapping[str, str], *, status: int | None
) -> JSONResponse:
    """`status` overrides the class's own."""
    answered = _status_of(fault, status or fault.status)
    code = "model_not_found" if isinstance(fault, ModelNotAllowedError) else fault.code
    body = error_body(message, answered, code, fault.extra.get("param"))
    return JSONResponse(body.model_dump(), status_code=answered, headers=headers)


def error_body(message: str, status: int, code: str, param: str | None = None) -> OpenAiErrorBody:
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return OpenAiErrorBody(error=OpenAiError(message=message, type=kind, param=param, code=code))


def _status_of(fault: AchillesError, status: int) -> int:
    """OpenAI knows no 422, and its clients take a model that may not be used for one that does not exist."""
    if isinstance(fault, ModelNotAllowedError):
        return 404
    return 400 if status == 422 else status
