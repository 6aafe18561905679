"""`ETag` and `If-Match` of settings: who changes one says which revision he saw, so that nobody overwrites another."""

import re
from typing import Annotated

from fastapi import Depends, Header, Response

from shared.errors import ClientError

_TAG = re.compile(r'^"(\d{1,9})"$')


class PreconditionMissingError(ClientError):
    code = "precondition_required"
    title = "Say which revision you saw"
    status = 428


class PreconditionUnreadableError(ClientError):
    code = "precondition_unreadable"
    title = "`If-Match` is neither an ETag of this setting nor `*`"


def expected_revision(if_match: Annotated[str | None, Header(max_length=100)] = None) -> int | None:
    """None for `*`. Raises PreconditionMissingError or PreconditionUnreadableError."""
    if if_match is None:
        raise PreconditionMissingError("Send the ETag that you read as `If-Match`, or `*` to overwrite.")
    if if_match.strip() == "*":
        return None
    found = _TAG.match(if_match.strip())
    if found is None:
        raise PreconditionUnreadableError
    return int(found.group(1))


def set_etag(response: Response, revision: int) -> None:
    response.headers["etag"] = f'"{revision}"'
    response.headers["cache-control"] = "no-store"


ExpectedRevision = Annotated[int | None, Depends(expected_revision)]
