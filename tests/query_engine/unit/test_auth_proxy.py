"""Identity headers: believed from a proxy's address, and from nowhere else."""

import ipaddress
import socket

import pytest
import uvicorn
from fastapi import Request

from services.chat_api import main
from services.chat_api.domain.identity_claims import IdentityUnusableError
from services.chat_api.http.proxy_identity import HeaderNames, ProxyIdentity
from shared.identity import Identity

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_NAMES = HeaderNames("X-User", "X-Name", "X-Groups", "X-Department")


def _identify(address: str | None, *headers: tuple[str, str]) -> Identity | None:
    networks = (ipaddress.ip_network("10.0.3.0/28"), ipaddress.ip_network("fd00::/64"))
    proxy = ProxyIdentity(networks, _NAMES, {"ops": frozenset({"admin"})})
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    client = (address, 4711) if address else None
    return proxy.identify(Request({"type": "http", "headers": raw, "client": client}))


@pytest.mark.req("AUTH-2")
def test_a_proxy_says_who_asks() -> None:
    headers = (("X-User", "u-1"), ("X-Name", "Анна"), ("X-Groups", "staff, ops,,"), ("X-Department", "R&D"))
    for address in ("10.0.3.7", "fd00::1", "::ffff:10.0.3.7"):
        found = _identify(address, *headers)
        assert found is not None
        assert (found.user_id, found.display_name, found.department) == ("u-1", "Анна", "R&D")
        assert (found.groups, found.roles) == (("ops", "staff"), ("admin", "user"))
    assert _identify("10.0.3.7") is None


@pytest.mark.req("AUTH-2")
@pytest.mark.parametrize("address", ["10.0.3.16", "127.0.0.1", "fd01::1", "::ffff:10.0.4.1", "testclient", None])
def test_headers_from_any_other_address_are_ignored_and_noted(
    address: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    forged = (("X-User", "admin"), ("X-Groups", "ops"), ("X-Forwarded-For", "10.0.3.7"), ("Forwarded", "for=10.0.3.7"))
    assert _identify(address, *forged) is None
    assert [record.message for record in caplog.records] == ["identity_headers_ignored"]
    assert "admin" not in caplog.text


@pytest.mark.parametrize("name", ["X-User", "X-Groups", "X-Name", "X-Department"])
def test_a_header_that_came_twice_is_refused(name: str) -> None:
    with pytest.raises(IdentityUnusableError):
        _identify("10.0.3.7", ("X-User", "u-1"), (name, "one"), (name, "two"))


def test_no_header_rewrites_the_address_of_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server would otherwise take `X-Forwarded-For` of a peer on loopback for the peer."""
    for name in ("DATABASE_URL", "NATS_URL", "REDIS_URL", "KNOWLEDGE_URL"):
        monkeypatch.setenv(f"ACHILLES_{name}", "http://127.0.0.1:1")
    given: list[uvicorn.Config] = []

    class StartsNothing(uvicorn.Server):
        def run(self, sockets: list[socket.socket] | None = None) -> None:
            given.append(self.config)
            self.started = True

    monkeypatch.setattr(main, "_Server", StartsNothing)
    monkeypatch.setattr(main, "create_app", lambda _settings: None)
    monkeypatch.setattr(main, "configure_logging", lambda *_: None)
    main.run()
    assert [config.proxy_headers for config in given] == [False]
