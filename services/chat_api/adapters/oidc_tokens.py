"""JSON Web Tokens, verified against the keys of their issuer."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jwt

from services.chat_api.adapters.kept_fresh import KeptFresh
from services.chat_api.adapters.oidc_issuer import Issuer
from services.chat_api.adapters.oidc_keys import SigningKey, choose_key
from shared.errors import ClientError

_LONGEST_TOKEN = 16_384
_LONGEST_KID = 500
_UNKNOWN_FOR_SECONDS = 60.0
_MOST_UNKNOWN = 1_000
# What an issuer signs besides may look the same (a logout token does), so the kind is asked for where it is told.
_TYPES = (None, "jwt", "at+jwt", "application/jwt", "application/at+jwt")
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (jwt.ExpiredSignatureError, "It has expired."),
    (jwt.ImmatureSignatureError, "It is not valid yet."),
    (jwt.InvalidAudienceError, "It is meant for another application."),
    (jwt.InvalidIssuerError, "It comes from another issuer."),
    (jwt.InvalidSignatureError, "Its signature is wrong."),
    (jwt.MissingRequiredClaimError, "It lacks a claim that is needed: exp, iss or aud."),
)


class TokenRefusedError(ClientError):
    """The detail says why, without anything that stands in the token."""

    code = "token_refused"
    title = "The bearer token is not accepted"
    status = 401


@dataclass(frozen=True, slots=True)
class TokenPolicy:
    issuer: str
    algorithms: tuple[str, ...]
    leeway: timedelta


class TokenVerifier:
    def __init__(
        self, issuer: KeptFresh[Issuer], policy: TokenPolicy, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._policy = policy
        self._clock = clock
        self._unknown: OrderedDict[str, float] = OrderedDict()

    async def verify(self, token: str, *, audience: str) -> Mapping[str, object]:
        """The claims. Raises TokenRefusedError, or IssuerUnavailableError when the right key cannot be learned."""
        algorithm, kid = self._header(token)
        key = await self._key(kid, algorithm)
        try:
            claims: dict[str, object] = jwt.decode(
                token,
                key.public_key,
                algorithms=[algorithm],
                audience=audience,
                issuer=self._policy.issuer,
                leeway=self._policy.leeway,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as fault:
            raise TokenRefusedError(_reason(fault)) from None
        return claims

    def _header(self, token: str) -> tuple[str, str | None]:
        if len(token) > _LONGEST_TOKEN:
            raise TokenRefusedError("It is too long.")
        try:
            header: dict[str, Any] = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError):
            raise TokenRefusedError("It is no JSON Web Token.") from None
        algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ")
        if algorithm not in self._policy.algorithms:
            raise TokenRefusedError("Its signature algorithm is not on the list of allowed ones.")
        if (kind.lower() if isinstance(kind, str) else kind) not in _TYPES:
            raise TokenRefusedError("It is a token of another kind.")
        if kid is not None and (not isinstance(kid, str) or len(kid) > _LONGEST_KID):
            raise TokenRefusedError("Its key id cannot be used.")
        return algorithm, kid

    async def _key(self, kid: str | None, algorithm: str) -> SigningKey:
        key = choose_key((await self._issuer.get()).keys, kid, algorithm)
        if key is None and not self._is_known_as_unknown(f"{algorithm} {kid}"):
            key = choose_key((await self._issuer.newest()).keys, kid, algorithm)
            if key is None:
                self._remember_unknown(f"{algorithm} {kid}")
        if key is None:
            raise TokenRefusedError("It is signed with a key that its issuer does not publish.")
        return key

    def _is_known_as_unknown(self, name: str) -> bool:
        return self._unknown.get(name, 0.0) > self._clock()

    def _remember_unknown(self, name: str) -> None:
        self._unknown[name] = self._clock() + _UNKNOWN_FOR_SECONDS
        self._unknown.move_to_end(name)
        if len(self._unknown) > _MOST_UNKNOWN:
            self._unknown.popitem(last=False)


def _reason(fault: jwt.PyJWTError) -> str:
    return next((text for kind, text in _REASONS if isinstance(fault, kind)), "It cannot be verified.")
