"""From what an issuer or a proxy says about a person to an identity."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from services.chat_api.domain.caller import ANONYMOUS_PREFIX
from shared.errors import ClientError
from shared.identity import Identity, Role

_LONGEST_NAME = 200
_CONTROL_AND_SURROGATE = ("Cc", "Cs")


class IdentityUnusableError(ClientError):
    """Who it is was proven, and still cannot be taken over. The detail names the field, never its value."""

    code = "identity_unusable"
    title = "What the login says about you cannot be used"
    status = 403


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """A name that is no claim by itself is a path: `realm_access.roles`."""

    user: str = "sub"
    name: str = "name"
    groups: str = "groups"
    department: str = "department"
    roles: str = "groups"


def identity_from_claims(
    claims: Mapping[str, object], names: ClaimNames, role_map: Mapping[str, frozenset[Role]]
) -> Identity:
    """Raises IdentityUnusableError. Groups that are absent are none; groups left out as too many are an error."""
    _require_all_groups(claims, names)
    user_id = _text(claims, names.user)
    if user_id is None:
        raise IdentityUnusableError(f"The claim `{names.user}` is missing.")
    return make_identity(
        user_id,
        display_name=_text(claims, names.name) or _text(claims, "preferred_username") or user_id,
        groups=_texts(claims, names.groups),
        department=_text(claims, names.department),
        roles=roles_of(_texts(claims, names.roles), role_map),
    )


def make_identity(
    user_id: str,
    *,
    display_name: str,
    groups: Iterable[str] = (),
    department: str | None = None,
    roles: tuple[Role, ...] = ("user",),
) -> Identity:
    """Raises IdentityUnusableError for what the Knowledge Store or the database could not hold."""
    groups = tuple(groups)
    for field, value in (("user id", user_id), ("department", department or ""), *(("group", one) for one in groups)):
        if any(unicodedata.category(character) in _CONTROL_AND_SURROGATE for character in value):
            raise IdentityUnusableError(f"The {field} holds a control character.")
    if user_id.startswith(ANONYMOUS_PREFIX):
        raise IdentityUnusableError(f"A user id cannot begin with `{ANONYMOUS_PREFIX}`.")
    try:
        return Identity(
            user_id=user_id,
            display_name=_printable(display_name) or user_id,
            groups=groups,
            department=department,
            roles=roles,
        )
    except ValidationError:
        raise IdentityUnusableError("The user id is empty or longer than 200 characters.") from None


def roles_of(values: Iterable[str], role_map: Mapping[str, frozenset[Role]]) -> tuple[Role, ...]:
    """Everybody who is signed in is a user; anything else has to be mapped."""
    found: set[Role] = {"user"}
    for value in values:
        found |= role_map.get(value, frozenset())
    return tuple(sorted(found))


def _require_all_groups(claims: Mapping[str, object], names: ClaimNames) -> None:
    """An issuer that leaves out a long list says so (OpenID Connect Core, 5.6.2): unknown is not the same as none."""
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, Mapping) and names.groups in elsewhere:
        raise IdentityUnusableError(
            f"The issuer left the claim `{names.groups}` out of the token because it is too long. "
            "Have it send only the groups that are assigned to this application."
        )


def _find(claims: Mapping[str, object], name: str) -> object:
    if name in claims:
        return claims[name]
    found: object = claims
    for step in name.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)
    return found


def _text(claims: Mapping[str, object], name: str) -> str | None:
    value = _find(claims, name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise IdentityUnusableError(f"The claim `{name}` is no text.")
    return value


def _texts(claims: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = _find(claims, name)
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(one for one in value if one)
    raise IdentityUnusableError(f"The claim `{name}` is no list of texts.")


def _printable(name: str) -> str:
    kept = "".join(one for one in name if unicodedata.category(one) not in _CONTROL_AND_SURROGATE)
    return kept.strip()[:_LONGEST_NAME]
