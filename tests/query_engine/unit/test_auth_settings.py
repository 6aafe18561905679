"""Settings of the login: what is missing or dangerous is said at the start, not at the first request."""

from typing import Any

import pytest
from pydantic import ValidationError

from services.chat_api.identity_settings import IdentitySettings

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_ISSUER = {"oidc_issuer": "https://login.example", "oidc_audience": "achilles"}


def _settings(**values: Any) -> IdentitySettings:
    return IdentitySettings.model_validate(values)


@pytest.mark.req("AUTH-4")
@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "achilles.example", ""])
def test_the_demo_login_refuses_every_address_but_loopback(host: str) -> None:
    with pytest.raises(ValidationError, match="not a loopback address"):
        _settings(host=host)
    assert _settings(host=host, **_ISSUER).has_demo_login is False


@pytest.mark.req("AUTH-4")
@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_loopback_has_the_demo_login_unless_somebody_else_vouches(host: str) -> None:
    assert _settings(host=host).has_demo_login is True
    assert _settings(host=host, trusted_proxies="127.0.0.1").has_demo_login is False


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"oidc_issuer": "https://login.example"}, "ACHILLES_OIDC_AUDIENCE"),
        ({"oidc_audience": "achilles"}, "ACHILLES_OIDC_ISSUER"),
        ({"oidc_client_id": "web"}, "ACHILLES_OIDC_ISSUER"),
        ({**_ISSUER, "oidc_client_id": "web"}, "ACHILLES_PUBLIC_URL"),
        ({**_ISSUER, "oidc_issuer": "http://login.example"}, "https://"),
        ({**_ISSUER, "oidc_issuer": "login.example"}, "https://"),
        ({**_ISSUER, "public_url": "http://ask.example"}, "https://"),
        ({**_ISSUER, "public_url": "https://ask.example/chat"}, "without a path"),
        ({**_ISSUER, "oidc_algorithms": "HS256"}, "must name some of"),
        ({**_ISSUER, "oidc_algorithms": "none"}, "must name some of"),
        ({**_ISSUER, "oidc_algorithms": ""}, "must name some of"),
        ({**_ISSUER, "oidc_role_map": "ops=root"}, "roles are user, reviewer, finance, admin"),
        ({**_ISSUER, "oidc_role_map": "ops"}, "must be pairs"),
        ({"trusted_proxies": "10.0.0.0/33"}, "trusted_proxies"),
        ({"trusted_proxies": "0.0.0.0/0"}, "every address"),
        ({"trusted_proxies": "10.0.0.1/8"}, "host bits"),
        (
            {**_ISSUER, "oidc_client_id": "web", "public_url": "https://ask.example", "oidc_scopes": "email"},
            "openid",
        ),
    ],
)
def test_settings_that_do_not_fit_together_say_what_to_do(values: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        _settings(**values)
    assert said in str(refused.value)


def test_cookies_are_secure_wherever_they_can_be() -> None:
    assert _settings().secure_cookies is False
    assert _settings(**_ISSUER, public_url="https://ask.example").secure_cookies is True
    assert _settings(**_ISSUER, public_url="http://localhost:8000").secure_cookies is False
    assert _settings(**_ISSUER, host="0.0.0.0").secure_cookies is True


def test_only_those_who_are_configured_now_can_vouch_for_somebody() -> None:
    assert _settings().authorities == {"demo"}
    assert _settings(anonymous_access=True).authorities == {"demo", "anonymous"}
    assert _settings(**_ISSUER, trusted_proxies="10.0.0.0/8").authorities == {"https://login.example", "proxy"}


def test_roles_are_read_from_pairs() -> None:
    roles = _settings(**_ISSUER, oidc_role_map="ops=admin, ops=reviewer, cn=controlling=finance").role_map
    assert roles == {"ops": {"admin", "reviewer"}, "cn=controlling": {"finance"}}
