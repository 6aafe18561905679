"""From claims to an identity."""

from typing import Any

import pytest

from services.chat_api.domain.identity_claims import (
    ClaimNames,
    IdentityUnusableError,
    identity_from_claims,
    make_identity,
)
from shared.identity import Role

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_ROLES: dict[str, frozenset[Role]] = {"ops": frozenset({"admin", "reviewer"}), "controlling": frozenset({"finance"})}


def _identity(claims: dict[str, Any], **names: str) -> Any:
    return identity_from_claims(claims, ClaimNames(**names), _ROLES)


@pytest.mark.req("AUTH-2")
def test_configured_claims_become_the_identity() -> None:
    claims = {
        "oid": "u-1",
        "given": "Анна",
        "https://acme.example/groups": ["staff", "ops", "staff", ""],
        "org": {"unit": "R&D"},
        "realm_access": {"roles": ["controlling", "unheard-of"]},
    }
    found = _identity(
        claims,
        user="oid",
        name="given",
        groups="https://acme.example/groups",
        department="org.unit",
        roles="realm_access.roles",
    )
    assert (found.user_id, found.display_name, found.department) == ("u-1", "Анна", "R&D")
    assert found.groups == ("ops", "staff")
    assert found.roles == ("finance", "user")


def test_everybody_is_a_user_and_nothing_more_unless_it_is_mapped() -> None:
    assert _identity({"sub": "u-1", "groups": ["admin", "ops-team"], "roles": ["admin"]}).roles == ("user",)
    assert _identity({"sub": "u-1", "groups": "ops"}).roles == ("admin", "reviewer", "user")


def test_a_missing_name_falls_back_and_missing_groups_are_none() -> None:
    assert _identity({"sub": "u-1", "preferred_username": "anna"}).display_name == "anna"
    found = _identity({"sub": "u-1"})
    assert (found.display_name, found.groups, found.department) == ("u-1", (), None)


def test_groups_that_were_left_out_as_too_many_are_not_no_groups() -> None:
    with pytest.raises(IdentityUnusableError, match="too long"):
        _identity({"sub": "u-1", "_claim_names": {"groups": "src1"}})


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 201},
        {"sub": "a\x00b"},
        {"sub": "a\ud800"},
        {"sub": "anonymous:5e1f"},
        {"sub": "u-1", "groups": {"staff": True}},
        {"sub": "u-1", "groups": ["staff", 7]},
        {"sub": "u-1", "groups": ["st\x00aff"]},
        {"sub": "u-1", "department": ["IT"]},
    ],
)
def test_claims_that_cannot_be_used_are_refused_without_their_value(claims: dict[str, Any]) -> None:
    with pytest.raises(IdentityUnusableError) as refused:
        _identity(claims)
    assert "xxx" not in refused.value.detail
    assert "5e1f" not in refused.value.detail


def test_a_name_is_shown_without_what_cannot_be_printed() -> None:
    assert make_identity("u-1", display_name=" An\x00na\n" + "x" * 300).display_name == "Anna" + "x" * 196
    assert make_identity("u-1", display_name="\n").display_name == "u-1"
