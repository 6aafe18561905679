"""Settings of the front that say who may ask, and how it is known who asks."""

import ipaddress
from datetime import timedelta
from typing import Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from services.chat_api.domain.caller import ANONYMOUS_AUTHORITY, DEMO_AUTHORITY, PROXY_AUTHORITY
from services.chat_api.domain.identity_claims import ClaimNames
from shared.identity import Role
from shared.settings import AchillesSettings, Duration

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# Only what an issuer signs with a key that it keeps to itself: no `none`, and no key that verifier and signer share.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class IdentitySettings(AchillesSettings):
    host: str = Field(default="127.0.0.1", title="Address of the front; the demo login allows loopback only")
    session_lifetime: Duration = Field(default=timedelta(days=14), title="A demo or anonymous login ends after this")
    public_url: str = Field(default="", title="Address at which browsers reach the front, such as https://ask.example")

    oidc_issuer: str = Field(default="", title="OpenID Connect issuer, exactly as it stands in its tokens")
    oidc_audience: str = Field(default="", title="Audience that a bearer token must be meant for")
    oidc_client_id: str = Field(default="", title="Client of the browser login; without one only tokens are accepted")
    oidc_client_secret: SecretStr = Field(default=SecretStr(""), title="Secret of that client; none for a public one")
    oidc_scopes: str = Field(default="openid profile email", title="Scopes that the browser login asks for")
    oidc_algorithms: str = Field(default="RS256,ES256", title="Signatures that are accepted, separated by commas")
    oidc_leeway: Duration = Field(default=timedelta(seconds=30), title="How far clocks may differ")
    oidc_session_lifetime: Duration = Field(
        default=timedelta(hours=12),
        title="A login at the issuer ends after this",
        description="Groups and roles are those of the login until then.",
    )
    oidc_keys_fresh_for: Duration = Field(default=timedelta(minutes=15), title="Keys are read again after this long")
    oidc_keys_refresh_at_most_every: Duration = Field(
        default=timedelta(seconds=30), title="Keys are not read more often, whatever tokens arrive"
    )
    oidc_keys_stale_for: Duration = Field(
        default=timedelta(hours=24), title="Keys are used this long while the issuer cannot be reached"
    )
    oidc_user_claim: str = Field(default="sub", min_length=1, title="Claim with the user id")
    oidc_name_claim: str = Field(default="name", min_length=1, title="Claim with the name that is shown")
    oidc_groups_claim: str = Field(default="groups", min_length=1, title="Claim with the groups")
    oidc_department_claim: str = Field(default="department", min_length=1, title="Claim with the department")
    oidc_roles_claim: str = Field(default="groups", min_length=1, title="Claim whose values the role map reads")
    oidc_role_map: str = Field(
        default="", title="Values and the roles they give, such as achilles-admins=admin,controlling=finance"
    )

    trusted_proxies: str = Field(
        default="", title="Networks of proxies whose identity headers are believed, such as 10.0.3.0/28"
    )
    proxy_user_header: str = Field(default="X-Forwarded-User", min_length=1, title="Header with the user id")
    proxy_name_header: str = Field(default="X-Forwarded-Preferred-Username", title="Header with the name")
    proxy_groups_header: str = Field(default="X-Forwarded-Groups", title="Header with groups, separated by commas")
    proxy_department_header: str = Field(default="X-Forwarded-Department", title="Header with the department")

    anonymous_access: bool = Field(default=False, title="Whether people who are not signed in may ask")

    @field_validator("oidc_issuer", "public_url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and not (parts.scheme == "https" and parts.hostname) and not _is_local(url):
            raise ValueError("must be an https:// address; http:// only on this computer")
        return url

    @field_validator("public_url")
    @classmethod
    def _without_slash(cls, url: str) -> str:
        if urlsplit(url).path.strip("/") or "?" in url or "#" in url:
            raise ValueError("must be an address without a path: the page lives at its root")
        return url.rstrip("/")

    @field_validator("oidc_algorithms")
    @classmethod
    def _asymmetric(cls, names: str) -> str:
        if not _listed(names) or not set(_listed(names)) <= set(ALGORITHMS):
            raise ValueError(f"must name some of {', '.join(ALGORITHMS)}")
        return names

    @field_validator("oidc_role_map")
    @classmethod
    def _known_roles(cls, text: str) -> str:
        _role_map(text)
        return text

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, text: str) -> str:
        if any(network.prefixlen == 0 for network in _networks(text)):
            raise ValueError("would trust every address: name the networks of your proxies")
        return text

    @model_validator(mode="after")
    def _issuer_is_complete(self) -> Self:
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError(
                "ACHILLES_OIDC_ISSUER is set, so ACHILLES_OIDC_AUDIENCE must say which tokens are meant for us: "
                "otherwise a token for any other application of that issuer would be accepted."
            )
        for name in ("oidc_audience", "oidc_client_id"):
            if getattr(self, name) and not self.oidc_issuer:
                raise ValueError(f"ACHILLES_{name.upper()} is set, so ACHILLES_OIDC_ISSUER must name the issuer.")
        if self.oidc_client_id and not self.public_url:
            raise ValueError(
                "ACHILLES_OIDC_CLIENT_ID is set, so ACHILLES_PUBLIC_URL must say where browsers come back to after "
                "the login, such as https://ask.example."
            )
        if self.oidc_client_id and "openid" not in self.oidc_scopes.split():
            raise ValueError("ACHILLES_OIDC_SCOPES must hold `openid`, or the issuer does not say who signed in.")
        return self

    @model_validator(mode="after")
    def _demo_login_is_local(self) -> Self:
        if self.has_demo_login and not is_loopback(self.host):
            raise ValueError(
                f"ACHILLES_HOST={self.host} is not a loopback address: the demo login has no passwords and is only "
                "served on this computer. Use 127.0.0.1, or configure a login: ACHILLES_OIDC_ISSUER."
            )
        return self

    @property
    def has_demo_login(self) -> bool:
        return not self.oidc_issuer and not self.trusted_proxies

    @property
    def authorities(self) -> frozenset[str]:
        """Whose word counts now: a login of a time with other settings does not."""
        found = {self.oidc_issuer, PROXY_AUTHORITY if self.trusted_proxies else ""} - {""}
        found = found or {DEMO_AUTHORITY}
        return frozenset(found | {ANONYMOUS_AUTHORITY} if self.anonymous_access else found)

    @property
    def secure_cookies(self) -> bool:
        """Browsers keep a Secure cookie only over TLS, which plain loopback does not have."""
        return self.public_url.startswith("https://") or not (self.public_url or is_loopback(self.host))

    @property
    def public_host(self) -> str:
        """A name as it stands in a Host header, without a port."""
        name = urlsplit(self.public_url).hostname or ""
        return f"[{name}]" if ":" in name else name

    @property
    def claim_names(self) -> ClaimNames:
        return ClaimNames(
            user=self.oidc_user_claim,
            name=self.oidc_name_claim,
            groups=self.oidc_groups_claim,
            department=self.oidc_department_claim,
            roles=self.oidc_roles_claim,
        )

    @property
    def algorithms(self) -> tuple[str, ...]:
        return _listed(self.oidc_algorithms)

    @property
    def role_map(self) -> dict[str, frozenset[Role]]:
        return _role_map(self.oidc_role_map)

    @property
    def proxy_networks(self) -> tuple[Network, ...]:
        return _networks(self.trusted_proxies)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(one) for one in _listed(text))


def _role_map(text: str) -> dict[str, frozenset[Role]]:
    found: dict[str, frozenset[Role]] = {}
    roles: dict[str, Role] = {role: role for role in get_args(Role)}
    for pair in _listed(text):
        value, _, role = (part.strip() for part in pair.rpartition("="))
        if not value or role not in roles:
            raise ValueError(f"must be pairs such as achilles-admins=admin; roles are {', '.join(roles)}")
        found[value] = found.get(value, frozenset()) | {roles[role]}
    return found
