"""`GET /api/v1/asyncapi.json`: what travels on the bus, for whoever listens there."""

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from services.chat_api.http.authentication import public
from shared.messaging.asyncapi import asyncapi_document

router = APIRouter()


@router.get("/api/v1/asyncapi.json", include_in_schema=False, dependencies=[Depends(public)])
async def read_asyncapi() -> JSONResponse:
    return JSONResponse(asyncapi_document())
