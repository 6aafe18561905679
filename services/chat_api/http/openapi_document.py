"""What the generated OpenAPI document says beside the routes themselves: how every request can be refused."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field

from services.chat_api.http.openai_errors import OpenAiErrorBody
from services.chat_api.http.problems import PROBLEM_JSON

Document = dict[str, Any]


class Problem(BaseModel):
    """RFC 9457. `code` is stable; `title` and `detail` come in the caller's language where we have it."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "urn:achilles:problem:not_found",
                "title": "There is no such thing here",
                "status": 404,
                "detail": "There is no such thing here",
                "instance": "5f0c6a1e-8f0b-4d0e-9a63-0f6c6f0d9a51",
                "code": "not_found",
            }
        },
    )

    type: str
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    instance: str = Field(description="The request's id, also in the header X-Request-ID")
    code: str


_PROBLEM_REFERENCE = {"$ref": "#/components/schemas/Problem"}
_PROBLEM_RESPONSE = {
    "description": "Refused or failed, as a problem",
    "content": {PROBLEM_JSON: {"schema": _PROBLEM_REFERENCE}},
}
_OPENAI_RESPONSE = {
    "description": "Refused or failed, as an error of the OpenAI API",
    "content": {"application/json": {"schema": OpenAiErrorBody.model_json_schema()}},
}


def document_problems(app: FastAPI) -> None:
    """Every operation is refused in the one way that the handlers really use, not in the framework's own."""
    app.openapi = _generator(app)  # type: ignore[method-assign]


def _generator(app: FastAPI) -> Callable[[], Document]:
    def generate() -> Document:
        if app.openapi_schema is None:
            app.openapi_schema = _with_problems(
                get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            )
        return app.openapi_schema

    return generate


def _with_problems(document: Document) -> Document:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = Problem.model_json_schema()
    for framework_schema in ("HTTPValidationError", "ValidationError"):
        schemas.pop(framework_schema, None)
    for path, operations in document["paths"].items():
        if path.startswith(("/api/v1", "/v1")):
            for operation in operations.values():
                operation["responses"].pop("422", None)
                for response in operation["responses"].values():
                    # The framework calls a stream of events a string.
                    if "text/event-stream" in response.get("content", {}):
                        response["content"]["text/event-stream"] = {}
                operation["responses"]["default"] = _OPENAI_RESPONSE if path.startswith("/v1") else _PROBLEM_RESPONSE
    return document
