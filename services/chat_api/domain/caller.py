"""Who a request is made for: always an owner of conversations, and an identity unless the caller is anonymous."""

from dataclasses import dataclass
from typing import Self
from uuid import uuid4

from shared.identity import Identity

DEMO_AUTHORITY = "demo"
PROXY_AUTHORITY = "proxy"
ANONYMOUS_AUTHORITY = "anonymous"
ANONYMOUS_PREFIX = "anonymous:"


@dataclass(frozen=True, slots=True)
class Caller:
    """`identity` None is its absence, which is passed on as such: it is not an identity without rights.

    `authority` says who vouches for the identity: `demo`, `proxy`, `anonymous` or the issuer's URL.
    """

    owner_id: str
    identity: Identity | None
    authority: str

    @classmethod
    def known(cls, identity: Identity, authority: str) -> Self:
        return cls(identity.user_id, identity, authority)

    @classmethod
    def anonymous(cls) -> Self:
        """Somebody new, whose conversations nobody else can name."""
        return cls(f"{ANONYMOUS_PREFIX}{uuid4()}", None, ANONYMOUS_AUTHORITY)

    @property
    def department(self) -> str | None:
        return self.identity.department if self.identity else None
