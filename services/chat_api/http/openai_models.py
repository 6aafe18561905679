"""`GET /v1/models`: what a client of the OpenAI API may ask for."""

from fastapi import APIRouter

from services.chat_api.http.authentication import AnyFront, ApiModelsCaller
from services.chat_api.http.openai_bodies import ModelBody, ModelList
from services.chat_api.http.openai_request import ACHILLES_MODEL
from services.chat_api.use_cases.errors import ModelNotAllowedError

router = APIRouter(prefix="/v1/models", tags=["openai"])


@router.get("")
async def list_models(_caller: ApiModelsCaller, front: AnyFront) -> ModelList:
    """`achilles` stands for the model of the conversation or the default; the others are the allowed models."""
    return ModelList(data=[ModelBody(id=name) for name in (ACHILLES_MODEL, *front.models.names)])


@router.get("/{model_id:path}")
async def read_model(model_id: str, _caller: ApiModelsCaller, front: AnyFront) -> ModelBody:
    if model_id != ACHILLES_MODEL and model_id not in front.models.names:
        raise ModelNotAllowedError("There is no such model, or it may not be used: `GET /v1/models` lists them.")
    return ModelBody(id=model_id)
