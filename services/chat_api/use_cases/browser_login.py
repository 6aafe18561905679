"""Sign in at an issuer: authorization code flow with PKCE, bound to one browser by a cookie, good once."""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.adapters.kept_fresh import KeptFresh
from services.chat_api.adapters.oidc_issuer import (
    Issuer,
    IssuerClient,
    IssuerUnavailableError,
    LoginClient,
    LoginRefusedError,
)
from services.chat_api.adapters.oidc_tokens import TokenRefusedError, TokenVerifier
from services.chat_api.domain.caller import Caller
from services.chat_api.storage.login_attempts import LoginAttempt, keep_attempt, take_attempt
from services.chat_api.storage.secrets import new_secret
from services.chat_api.use_cases.recognise_token import IdentityRules

LOGIN_TAKES_AT_MOST = timedelta(minutes=10)
_HOME = "/"


@dataclass(frozen=True, slots=True)
class LoginStarted:
    """`browser` goes into a cookie, `address` is where the browser goes."""

    address: str
    browser: str


@dataclass(frozen=True, slots=True)
class LoginDone:
    caller: Caller
    return_to: str


@dataclass(frozen=True, slots=True)
class LoginIssuer:
    """The issuer as a browser login needs it."""

    client: IssuerClient
    kept: KeptFresh[Issuer]
    verifier: TokenVerifier
    us: LoginClient
    rules: IdentityRules


class BrowserLogin:
    def __init__(
        self, engine: AsyncEngine, issuer: LoginIssuer, *, lifetime: timedelta, now: Callable[[], datetime]
    ) -> None:
        self._engine = engine
        self._issuer = issuer
        self.lifetime = lifetime
        self._now = now

    async def start(self, return_to: str, browser: str | None) -> LoginStarted:
        """`browser` is the cookie of an attempt in another tab. Raises IssuerUnavailableError."""
        metadata = (await self._issuer.kept.get()).metadata
        if not metadata.authorization_endpoint or not metadata.token_endpoint:
            raise IssuerUnavailableError("The issuer offers no login for browsers.")
        browser, state = browser or new_secret(), new_secret()
        attempt = LoginAttempt(new_secret(), new_secret(), local_path(return_to))
        async with self._engine.begin() as connection:
            expires_at = self._now() + LOGIN_TAKES_AT_MOST
            await keep_attempt(connection, attempt, state=state, browser=browser, expires_at=expires_at)
        query = {
            "response_type": "code",
            "client_id": self._issuer.us.client_id,
            "redirect_uri": self._issuer.us.redirect_uri,
            "scope": self._issuer.us.scopes,
            "state": state,
            "nonce": attempt.nonce,
            "code_challenge": _challenge(attempt.code_verifier),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in metadata.authorization_endpoint else "?"
        return LoginStarted(f"{metadata.authorization_endpoint}{joint}{urlencode(query)}", browser)

    async def finish(self, *, browser: str, state: str, code: str, issuer: str | None) -> LoginDone:
        """Raises LoginRefusedError, IdentityUnusableError or IssuerUnavailableError."""
        async with self._engine.begin() as connection:
            attempt = await take_attempt(connection, state=state, browser=browser)
        if attempt is None:
            raise LoginRefusedError("This login was not begun in this browser, or too long ago. Sign in again.")
        if issuer is not None and issuer != self._issuer.rules.issuer:
            raise LoginRefusedError("The answer comes from another issuer.")
        metadata = (await self._issuer.kept.get()).metadata
        token = await self._issuer.client.redeem(metadata, self._issuer.us, code, attempt.code_verifier)
        return LoginDone(await self._caller_of(token, attempt.nonce), attempt.return_to)

    async def _caller_of(self, id_token: str, nonce: str) -> Caller:
        try:
            claims = await self._issuer.verifier.verify(id_token, audience=self._issuer.us.client_id)
        except TokenRefusedError as fault:
            raise LoginRefusedError(f"The issuer's ID token is not accepted. {fault.detail}") from fault
        if claims.get("nonce") != nonce or claims.get("azp", self._issuer.us.client_id) != self._issuer.us.client_id:
            raise LoginRefusedError("The issuer's ID token belongs to another login.")
        return self._issuer.rules.caller(claims)


def local_path(address: str) -> str:
    """A page of ours, whatever was asked for: nobody is sent elsewhere after the login."""
    inside = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside and len(address) <= 2_000 and address.isprintable() else _HOME


def _challenge(verifier: str) -> str:
    """RFC 7636, 4.2."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
