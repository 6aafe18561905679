"""`GET /api/v1/usage/export`: what the list shows, as a file."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from services.chat_api.http.authentication import AnyFront
from services.chat_api.http.usage_questions import AskedUsage
from services.chat_api.use_cases.export_usage import PARQUET_TYPE, ExportFormat

router = APIRouter(prefix="/api/v1/usage", tags=["usage"])
_FILES = {"text/csv": {"schema": {"type": "string"}}, PARQUET_TYPE: {"schema": {"type": "string", "format": "binary"}}}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"description": "The file, with a name to save it under", "content": _FILES}},
)
async def export_usage(
    query: AskedUsage,
    front: AnyFront,
    export_format: Annotated[
        ExportFormat,
        Query(
            alias="format",
            description="`csv` and `parquet` hold the rows of the list for the same question; the two of FOCUS 1.3 "
            "hold each day, person and model by itself, whatever `bucket` and `group_by` say",
        ),
    ],
) -> StreamingResponse:
    """Streamed. A connection that breaks off in the middle means that the file is not whole."""
    export = await front.export_usage.execute(query, export_format)
    headers = {"content-disposition": f'attachment; filename="{export.filename}"', "cache-control": "no-store"}
    return StreamingResponse(export.pieces, media_type=export.media_type, headers=headers)
