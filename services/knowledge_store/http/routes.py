"""The routes of the Knowledge Store contract."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import SecretStr

from services.knowledge_store.domain.access import principals_of
from services.knowledge_store.domain.errors import InvalidRequestError
from services.knowledge_store.http.models import RecordRequest, RecordResponse
from services.knowledge_store.http.service_token import make_token_check
from services.knowledge_store.http.services import Services
from shared.identity import Identity
from shared.knowledge_contract import SearchRequest, SearchResponse, StoreStatus


def get_services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


OpenServices = Annotated[Services, Depends(get_services)]


def make_router(token: SecretStr) -> APIRouter:
    router = APIRouter(prefix="/v1", dependencies=[Depends(make_token_check(token))])
    router.add_api_route("/search", search, methods=["POST"], response_model=SearchResponse)
    router.add_api_route("/record", read_record, methods=["POST"], response_model=RecordResponse)
    router.add_api_route("/status", read_status, methods=["GET"], response_model=StoreStatus)
    return router


async def search(request: SearchRequest, services: OpenServices) -> SearchResponse:
    _refuse_nul(request.identity)
    with services.search_metrics.searching() as found:
        response = await services.search.search(request)
        found.note(response)
    return response


async def read_record(request: RecordRequest, services: OpenServices) -> RecordResponse:
    _refuse_nul(request.identity, request.record_id)
    return RecordResponse.from_record(await services.record.read(request.record_id, request.identity))


async def read_status(services: OpenServices) -> StoreStatus:
    return await services.status.read()


def _refuse_nul(identity: Identity | None, *others: str) -> None:
    """PostgreSQL knows no NUL character: such a value is the caller's fault, not an outage."""
    if any("\x00" in value for value in (*principals_of(identity), *others)):
        raise InvalidRequestError("NUL characters are not allowed")
