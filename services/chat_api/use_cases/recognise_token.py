"""Who a bearer token was issued to. What was verified a moment ago is not verified again."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from services.chat_api.adapters.oidc_tokens import TokenVerifier
from services.chat_api.domain.caller import Caller
from services.chat_api.domain.identity_claims import ClaimNames, identity_from_claims
from shared.identity import Role

# So long a token may outlive a key that its issuer has withdrawn.
_TRUSTED_FOR = timedelta(seconds=60)
_MOST_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class IdentityRules:
    """How the claims of an issuer become an identity."""

    issuer: str
    names: ClaimNames
    role_map: Mapping[str, frozenset[Role]]

    def caller(self, claims: Mapping[str, object]) -> Caller:
        """Raises IdentityUnusableError."""
        return Caller.known(identity_from_claims(claims, self.names, self.role_map), self.issuer)


class RecogniseToken:
    def __init__(
        self,
        verifier: TokenVerifier,
        rules: IdentityRules,
        *,
        audience: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._verifier = verifier
        self._rules = rules
        self._audience = audience
        self._clock = clock
        self._kept: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()

    async def execute(self, token: str) -> Caller:
        """Raises TokenRefusedError, IdentityUnusableError or IssuerUnavailableError."""
        name = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        caller, until = self._kept.get(name, (None, 0.0))
        if caller is not None and self._clock() < until:
            return caller
        claims = await self._verifier.verify(token, audience=self._audience)
        caller = self._rules.caller(claims)
        # The verifier has required `exp` to be there, and to be a number.
        self._keep(name, caller, float(cast("float", claims["exp"])))
        return caller

    def _keep(self, name: bytes, caller: Caller, expires_at: float) -> None:
        self._kept[name] = (caller, min(expires_at, self._clock() + _TRUSTED_FOR.total_seconds()))
        self._kept.move_to_end(name)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
