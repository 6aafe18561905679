"""The ways in which this front recognises people, built once from its settings."""

from dataclasses import dataclass
from typing import Literal

from services.chat_api.http.cookies import Cookies
from services.chat_api.http.demo_people import DemoPeople
from services.chat_api.http.proxy_identity import ProxyIdentity
from services.chat_api.use_cases.api_keys import ApiKeys
from services.chat_api.use_cases.browser_login import BrowserLogin
from services.chat_api.use_cases.recognise_token import RecogniseToken
from services.chat_api.use_cases.sessions import Sessions

LoginMode = Literal["demo", "oidc", "proxy"]


@dataclass(frozen=True, slots=True)
class WaysIn:
    """What is None is not configured. Demo people exist only where nothing else is."""

    mode: LoginMode
    sessions: Sessions
    cookies: Cookies
    api_keys: ApiKeys
    people: DemoPeople | None
    tokens: RecogniseToken | None
    login: BrowserLogin | None
    proxy: ProxyIdentity | None
    anonymous: bool
