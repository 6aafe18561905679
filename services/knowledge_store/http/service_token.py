"""The service token: only a trusted front may say on whose behalf it asks."""

import hmac
from collections.abc import Callable
from typing import Annotated

from fastapi import Header
from pydantic import SecretStr

from services.knowledge_store.domain.errors import UnauthorisedError


def make_token_check(token: SecretStr) -> Callable[[str | None], None]:
    """A dependency that raises `UnauthorisedError` unless the request carries this bearer token."""
    expected = token.get_secret_value().encode()

    def check_token(authorization: Annotated[str | None, Header()] = None) -> None:
        scheme, _, given = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), expected):
            raise UnauthorisedError

    return check_token
