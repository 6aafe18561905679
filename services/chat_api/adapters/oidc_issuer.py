"""An OpenID Connect issuer over HTTP: its discovery document, its keys, and codes turned into tokens."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from urllib.parse import quote_plus, urlsplit

import httpx
from pydantic import BaseModel, Field, SecretStr, ValidationError

from services.chat_api.adapters.oidc_keys import JsonWebKeys, SigningKeys, read_signing_keys
from shared.errors import ClientError, TransientError

_TIMEOUT = timedelta(seconds=5)
_LARGEST_ANSWER = 1_048_576
Model = TypeVar("Model", bound=BaseModel)


class IssuerUnavailableError(TransientError):
    """The detail says what failed, for an operator; it holds nothing that the issuer sent."""

    code = "issuer_unavailable"
    title = "The login service cannot be reached"


class LoginRefusedError(ClientError):
    code = "login_refused"
    title = "The login was not completed"


class IssuerMetadata(BaseModel):
    issuer: str
    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = Field(default=("client_secret_basic",))


class _TokenResponse(BaseModel):
    id_token: str


class _ErrorResponse(BaseModel):
    error: str


@dataclass(frozen=True, slots=True)
class Issuer:
    metadata: IssuerMetadata
    keys: SigningKeys


@dataclass(frozen=True, slots=True)
class LoginClient:
    """Us, as the issuer knows us. Without a secret we are a public client."""

    client_id: str
    client_secret: SecretStr
    redirect_uri: str
    scopes: str


class IssuerClient:
    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._http = httpx.AsyncClient(timeout=httpx.Timeout(_TIMEOUT.total_seconds()))

    async def close(self) -> None:
        await self._http.aclose()

    async def read(self) -> Issuer:
        """Raises IssuerUnavailableError, also for an issuer that calls itself by another name."""
        address = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        metadata = await self._get(address, IssuerMetadata, "discovery document")
        if metadata.issuer != self._issuer:
            raise IssuerUnavailableError("The discovery document names another issuer than ACHILLES_OIDC_ISSUER.")
        for url in (metadata.jwks_uri, metadata.authorization_endpoint, metadata.token_endpoint):
            self._require_as_safe(url)
        keys = read_signing_keys(await self._get(metadata.jwks_uri, JsonWebKeys, "keys"))
        if not keys:
            raise IssuerUnavailableError("The issuer publishes no key that can be used.")
        return Issuer(metadata, keys)

    async def redeem(self, metadata: IssuerMetadata, client: LoginClient, code: str, verifier: str) -> str:
        """The ID token for an authorization code. Raises LoginRefusedError or IssuerUnavailableError."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": client.redirect_uri,
            "code_verifier": verifier,
        }
        auth = _client_auth(metadata, client, form)
        try:
            response = await self._http.post(
                metadata.token_endpoint, data=form, auth=auth, headers={"accept": "application/json"}
            )
        except httpx.HTTPError as fault:
            raise IssuerUnavailableError(f"token endpoint: {type(fault).__name__}") from fault
        if response.status_code == httpx.codes.BAD_REQUEST and _error_of(response) == "invalid_grant":
            raise LoginRefusedError("The login took too long or was used before. Sign in again.")
        return _read(response, _TokenResponse, "token endpoint").id_token

    async def _get(self, url: str, model: type[Model], what: str) -> Model:
        try:
            response = await self._http.get(url, headers={"accept": "application/json"})
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise IssuerUnavailableError(f"{what}: {type(fault).__name__}") from fault
        return _read(response, model, what)

    def _require_as_safe(self, url: str) -> None:
        """Keys or codes that travel in the clear would undo the TLS of the issuer."""
        if url and urlsplit(self._issuer).scheme == "https" and urlsplit(url).scheme != "https":
            raise IssuerUnavailableError("The discovery document names an address without TLS.")


def _client_auth(metadata: IssuerMetadata, client: LoginClient, form: dict[str, str]) -> httpx.Auth:
    secret = client.client_secret.get_secret_value()
    methods = metadata.token_endpoint_auth_methods_supported
    if secret and ("client_secret_basic" in methods or "client_secret_post" not in methods):
        # RFC 6749, 2.3.1: both halves are form-encoded first.
        return httpx.BasicAuth(quote_plus(client.client_id), quote_plus(secret))
    form["client_id"] = client.client_id
    if secret:
        form["client_secret"] = secret
    return httpx.Auth()


def _error_of(response: httpx.Response) -> str:
    try:
        return _ErrorResponse.model_validate_json(response.content).error
    except ValidationError:
        return ""


def _read(response: httpx.Response, model: type[Model], what: str) -> Model:
    if response.status_code != httpx.codes.OK:
        raise IssuerUnavailableError(f"{what}: status {response.status_code}")
    if len(response.content) > _LARGEST_ANSWER:
        raise IssuerUnavailableError(f"{what}: too large")
    try:
        return model.model_validate_json(response.content)
    except ValidationError:
        raise IssuerUnavailableError(f"{what}: unreadable") from None
