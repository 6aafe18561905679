"""Builds the ways in which the front recognises people."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from services.chat_api.adapters.kept_fresh import Freshness, KeptFresh
from services.chat_api.adapters.oidc_issuer import IssuerClient, LoginClient
from services.chat_api.adapters.oidc_tokens import TokenPolicy, TokenVerifier
from services.chat_api.http.cookies import Cookies
from services.chat_api.http.demo_people import read_demo_people
from services.chat_api.http.login import CALLBACK_PATH
from services.chat_api.http.proxy_identity import HeaderNames, ProxyIdentity
from services.chat_api.http.ways_in import LoginMode, WaysIn
from services.chat_api.identity_settings import IdentitySettings
from services.chat_api.use_cases.api_keys import ApiKeys
from services.chat_api.use_cases.browser_login import BrowserLogin, LoginIssuer
from services.chat_api.use_cases.recognise_token import IdentityRules, RecogniseToken
from services.chat_api.use_cases.sessions import Sessions

Now = Callable[[], datetime]


def open_ways_in(settings: IdentitySettings, engine: AsyncEngine, stack: AsyncExitStack, now: Now) -> WaysIn:
    """Asks no issuer yet: one that is away must not keep the front from starting."""
    issuer = _open_issuer(settings, stack) if settings.oidc_issuer else None
    return WaysIn(
        mode=_mode(settings),
        sessions=Sessions(engine, settings.authorities, lifetime=settings.session_lifetime, now=now),
        cookies=Cookies(settings.secure_cookies),
        api_keys=ApiKeys(engine, settings.authorities, now),
        people=read_demo_people() if settings.has_demo_login else None,
        tokens=RecogniseToken(issuer.verifier, issuer.rules, audience=settings.oidc_audience) if issuer else None,
        login=_make_login(settings, issuer, engine, now) if issuer and settings.oidc_client_id else None,
        proxy=_make_proxy(settings) if settings.trusted_proxies else None,
        anonymous=settings.anonymous_access,
    )


def _mode(settings: IdentitySettings) -> LoginMode:
    if settings.oidc_issuer:
        return "oidc"
    return "proxy" if settings.trusted_proxies else "demo"


def _open_issuer(settings: IdentitySettings, stack: AsyncExitStack) -> LoginIssuer:
    client = IssuerClient(settings.oidc_issuer)
    freshness = Freshness(
        settings.oidc_keys_fresh_for, settings.oidc_keys_refresh_at_most_every, settings.oidc_keys_stale_for
    )
    kept = KeptFresh(client.read, freshness)
    stack.push_async_callback(client.close)
    stack.push_async_callback(kept.close)
    policy = TokenPolicy(settings.oidc_issuer, settings.algorithms, settings.oidc_leeway)
    us = LoginClient(
        settings.oidc_client_id,
        settings.oidc_client_secret,
        f"{settings.public_url}{CALLBACK_PATH}",
        settings.oidc_scopes,
    )
    rules = IdentityRules(settings.oidc_issuer, settings.claim_names, settings.role_map)
    return LoginIssuer(client, kept, TokenVerifier(kept, policy), us, rules)


def _make_login(settings: IdentitySettings, issuer: LoginIssuer, engine: AsyncEngine, now: Now) -> BrowserLogin:
    return BrowserLogin(engine, issuer, lifetime=settings.oidc_session_lifetime, now=now)


def _make_proxy(settings: IdentitySettings) -> ProxyIdentity:
    names = HeaderNames(
        user=settings.proxy_user_header,
        name=settings.proxy_name_header,
        groups=settings.proxy_groups_header,
        department=settings.proxy_department_header,
    )
    return ProxyIdentity(settings.proxy_networks, names, settings.role_map)
