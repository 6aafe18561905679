"""An OpenID Connect issuer on a real socket: real keys and signatures, and switches for what can go wrong."""

import base64
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote_plus, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.support.http_server import serving

AUDIENCE = "https://achilles.example/api"
CLIENT_ID = "achilles web"
CLIENT_SECRET = "s3cret+/="
Algorithm = Literal["RS256", "ES256"]


@dataclass(frozen=True, slots=True)
class IssuerKey:
    kid: str
    algorithm: Algorithm
    private: Any

    @property
    def public_jwk(self) -> dict[str, Any]:
        maker = RSAAlgorithm if self.algorithm == "RS256" else ECAlgorithm
        found: dict[str, Any] = maker.to_jwk(self.private.public_key(), as_dict=True)
        return {**found, "kid": self.kid, "alg": self.algorithm, "use": "sig"}


@cache
def make_key(kid: str, algorithm: Algorithm = "ES256") -> IssuerKey:
    if algorithm == "RS256":
        return IssuerKey(kid, algorithm, rsa.generate_private_key(65_537, 2_048))
    return IssuerKey(kid, algorithm, ec.generate_private_key(ec.SECP256R1()))


def sign(key: IssuerKey, claims: dict[str, Any], **header: Any) -> str:
    return jwt.encode(claims, key.private, algorithm=key.algorithm, headers={"kid": key.kid, **header})


@dataclass(slots=True)
class _Code:
    nonce: str
    challenge: str
    redirect_uri: str


@dataclass(slots=True)
class OidcIssuer:
    """Signs in `person` without asking. `failing` answers every request with 503, `denying` refuses logins."""

    url: str = ""
    keys: list[IssuerKey] = field(default_factory=lambda: [make_key("rsa-1", "RS256"), make_key("ec-1")])
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1", "name": "Ada Byron", "groups": ["staff"]})
    id_token_changes: dict[str, Any] = field(default_factory=dict)
    failing: bool = False
    denying: bool = False
    requests: list[str] = field(default_factory=list)
    codes: dict[str, _Code] = field(default_factory=dict)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["OidcIssuer"]:
        routes = [
            Route("/.well-known/openid-configuration", self._discovery),
            Route("/keys", self._keys),
            Route("/authorize", self._authorize),
            Route("/token", self._token, methods=["POST"]),
        ]
        async with serving(Starlette(routes=routes)) as url:
            self.url = url
            yield self

    @property
    def key_reads(self) -> int:
        return self.requests.count("/keys")

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Of an access token; a change to None leaves the claim out."""
        now = int(time.time())
        whole = {"iss": self.url, "aud": AUDIENCE, "iat": now, "exp": now + 300, **self.person, **changes}
        return {name: value for name, value in whole.items() if value is not None}

    def token(self, key: IssuerKey | None = None, **changes: Any) -> str:
        return sign(key or self.keys[0], self.claims(**changes))

    async def _discovery(self, request: Request) -> Response:
        return self._refusal(request) or JSONResponse(
            {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
            }
        )

    async def _keys(self, request: Request) -> Response:
        return self._refusal(request) or JSONResponse({"keys": [key.public_jwk for key in self.keys]})

    async def _authorize(self, request: Request) -> Response:
        asked = request.query_params
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        if self.denying:
            return _back(asked["redirect_uri"], error="access_denied", state=asked["state"])
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = _Code(asked["nonce"], asked["code_challenge"], asked["redirect_uri"])
        return _back(asked["redirect_uri"], code=code, state=asked["state"], iss=self.url)

    async def _token(self, request: Request) -> Response:
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        form = dict(parse_qsl((await request.body()).decode()))
        if _basic(request) != (CLIENT_ID, CLIENT_SECRET):
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        code = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if code is None or code.challenge != challenge or code.redirect_uri != form["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        changes = {"aud": CLIENT_ID, "nonce": code.nonce, **self.id_token_changes}
        return JSONResponse({"access_token": "opaque", "token_type": "Bearer", "id_token": self.token(**changes)})

    def _refusal(self, request: Request) -> Response | None:
        self.requests.append(request.url.path)
        return JSONResponse({"error": "server_error"}, status_code=503) if self.failing else None


def _back(redirect_uri: str, **answer: str) -> Response:
    return RedirectResponse(f"{redirect_uri}?{urlencode(answer)}", status_code=302)


def _basic(request: Request) -> tuple[str, str]:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    assert scheme == "Basic"
    name, _, secret = base64.b64decode(value).decode().partition(":")
    return unquote_plus(name), unquote_plus(secret)
