"""Identity from headers, for a front behind a proxy that has signed people in. Believed from its address only."""

import ipaddress
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fastapi import Request

from services.chat_api.domain.identity_claims import IdentityUnusableError, make_identity, roles_of
from shared.identity import Identity, Role

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
logger = logging.getLogger(__name__)
_NOTED_AT_MOST_EVERY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class HeaderNames:
    user: str
    name: str
    groups: str
    department: str


class ProxyIdentity:
    def __init__(
        self, networks: tuple[Network, ...], names: HeaderNames, role_map: Mapping[str, frozenset[Role]]
    ) -> None:
        self._networks = networks
        self._names = names
        self._role_map = role_map
        self._noted_at = float("-inf")

    def identify(self, request: Request) -> Identity | None:
        """None without such headers, or from an address that is no proxy of ours. Raises IdentityUnusableError."""
        user_id = _header(request, self._names.user)
        if user_id is None:
            return None
        if not self._is_trusted(request):
            self._note()
            return None
        groups = [one.strip() for one in (_header(request, self._names.groups) or "").split(",") if one.strip()]
        return make_identity(
            user_id,
            display_name=_header(request, self._names.name) or user_id,
            groups=groups,
            department=_header(request, self._names.department),
            roles=roles_of(groups, self._role_map),
        )

    def _is_trusted(self, request: Request) -> bool:
        try:
            address = ipaddress.ip_address(request.client.host if request.client else "")
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self._networks)

    def _note(self) -> None:
        if time.monotonic() - self._noted_at > _NOTED_AT_MOST_EVERY_SECONDS:
            self._noted_at = time.monotonic()
            logger.warning("identity_headers_ignored", extra={"header": self._names.user})


def _header(request: Request, name: str) -> str | None:
    """Raises IdentityUnusableError for one that came twice: then a client's own got past the proxy."""
    values = [value for key, value in request.headers.raw if name and key == name.lower().encode("latin-1")]
    if len(values) > 1:
        raise IdentityUnusableError(f"The header `{name}` came more than once.")
    return (_decoded(values[0]).strip() or None) if values else None


def _decoded(value: bytes, encoding: Literal["utf-8"] = "utf-8") -> str:
    """Names are not ASCII everywhere, and proxies send them as UTF-8."""
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return value.decode("latin-1")
