"""Which bearer tokens are accepted, and how the issuer's keys are learned. No server: the issuer is a function."""

import asyncio
import base64
import hmac
import json
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from services.chat_api.adapters.kept_fresh import Freshness, KeptFresh
from services.chat_api.adapters.oidc_issuer import Issuer, IssuerMetadata, IssuerUnavailableError
from services.chat_api.adapters.oidc_keys import JsonWebKeys, read_signing_keys
from services.chat_api.adapters.oidc_tokens import TokenPolicy, TokenRefusedError, TokenVerifier
from services.chat_api.domain.identity_claims import ClaimNames
from services.chat_api.use_cases.recognise_token import IdentityRules, RecogniseToken
from tests.support.oidc_issuer import AUDIENCE, IssuerKey, make_key, sign

pytestmark = [pytest.mark.unit, pytest.mark.p1]

_ISSUER = "https://login.example"
_FRESHNESS = Freshness(timedelta(minutes=15), timedelta(seconds=30), timedelta(hours=24))


class _World:
    """An issuer whose keys, state and clock a test sets."""

    def __init__(
        self, *keys: IssuerKey, allowed: tuple[str, ...] = ("RS256", "ES256"), freshness: Freshness = _FRESHNESS
    ) -> None:
        self.jwks: list[dict[str, Any]] = [key.public_jwk for key in keys or (make_key("ec-1"),)]
        self.away = False
        self.reads = 0
        self.now = 1_000.0
        self.kept = KeptFresh(self._read, freshness, clock=lambda: self.now)
        policy = TokenPolicy(_ISSUER, allowed, timedelta(seconds=30))
        self.verifier = TokenVerifier(self.kept, policy, clock=lambda: self.now)

    async def _read(self) -> Issuer:
        self.reads += 1
        await asyncio.sleep(0)
        if self.away:
            raise IssuerUnavailableError("away")
        metadata = IssuerMetadata(issuer=_ISSUER, jwks_uri=f"{_ISSUER}/keys")
        return Issuer(metadata, read_signing_keys(JsonWebKeys(keys=tuple(self.jwks))))

    async def verify(self, token: str) -> str:
        return str((await self.verifier.verify(token, audience=AUDIENCE))["sub"])

    async def refusal(self, token: str) -> str:
        with pytest.raises(TokenRefusedError) as refused:
            await self.verify(token)
        return refused.value.detail


def _claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    whole = {"iss": _ISSUER, "aud": AUDIENCE, "sub": "u-1", "iat": now, "exp": now + 300, **changes}
    return {name: value for name, value in whole.items() if value is not None}


def _token(key: IssuerKey | None = None, **changes: Any) -> str:
    return sign(key or make_key("ec-1"), _claims(**changes))


@pytest.mark.req("AUTH-1")
@pytest.mark.parametrize("key", [make_key("rsa-1", "RS256"), make_key("ec-1")])
async def test_a_token_of_the_issuer_is_accepted(key: IssuerKey) -> None:
    assert await _World(key).verify(_token(key)) == "u-1"
    assert await _World(key).verify(_token(key, aud=["other", AUDIENCE])) == "u-1"


@pytest.mark.req("AUTH-1")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": int(time.time()) - 3_600}, "expired"),
        ({"exp": None}, "lacks a claim"),
        ({"exp": "soon"}, "cannot be verified"),
        ({"nbf": int(time.time()) + 3_600}, "not valid yet"),
        ({"iat": int(time.time()) + 3_600}, "not valid yet"),
        ({"aud": "another-application"}, "another application"),
        ({"aud": None}, "lacks a claim"),
        ({"iss": "https://login.example.evil"}, "another issuer"),
        ({"iss": f"{_ISSUER}/"}, "another issuer"),
        ({"iss": None}, "lacks a claim"),
    ],
)
async def test_a_token_with_a_wrong_claim_is_refused_with_its_reason(changes: dict[str, Any], reason: str) -> None:
    assert reason in await _World().refusal(_token(**changes))


@pytest.mark.req("AUTH-1")
async def test_clocks_may_differ_by_the_leeway_only() -> None:
    now = int(time.time())
    assert await _World().verify(_token(exp=now - 10)) == "u-1"
    assert "expired" in await _World().refusal(_token(exp=now - 60))


@pytest.mark.req("AUTH-1")
async def test_an_unsigned_token_and_one_signed_with_the_public_key_as_a_secret_are_refused() -> None:
    key = make_key("rsa-1", "RS256")
    world = _World(key)
    unsigned = f"{_segment({'alg': 'none', 'kid': 'rsa-1'})}.{_segment(_claims())}."
    pem = key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    header = _segment({"alg": "HS256", "kid": "rsa-1", "typ": "JWT"})
    signed = f"{header}.{_segment(_claims())}"
    forged = f"{signed}.{_encoded(hmac.digest(pem, signed.encode(), 'sha256'))}"
    for token in (unsigned, forged):
        assert "algorithm" in await world.refusal(token)
    assert world.reads == 0


@pytest.mark.req("AUTH-1")
async def test_an_algorithm_that_is_not_allowed_is_refused_though_the_key_would_fit() -> None:
    rsa_key = make_key("rsa-1", "RS256")
    assert "algorithm" in await _World(rsa_key, allowed=("ES256",)).refusal(_token(rsa_key))
    other_hash = jwt.encode(_claims(), rsa_key.private, algorithm="RS384", headers={"kid": "rsa-1"})
    world = _World(rsa_key, allowed=("RS256", "RS384"))
    assert "does not publish" in await world.refusal(other_hash), "the key says that it is for RS256"


async def test_a_changed_token_is_refused() -> None:
    header, _, signature = _token().split(".")
    forged = f"{header}.{_segment(_claims(sub='admin'))}.{signature}"
    assert "signature" in await _World().refusal(forged)


@pytest.mark.parametrize("token", ["", "a", "a.b", "a.b.c", "a.b.c.d", "é.b.c", "e30.e30.", "\udce9.b.c"])
async def test_what_is_no_token_is_refused(token: str) -> None:
    assert await _World().refusal(token)


async def test_a_huge_token_and_a_token_of_another_kind_are_refused() -> None:
    assert "too long" in await _World().refusal(_token(padding="x" * 20_000))
    assert "another kind" in await _World().refusal(sign(make_key("ec-1"), _claims(), typ="logout+jwt"))
    assert await _World().verify(sign(make_key("ec-1"), _claims(), typ="at+JWT")) == "u-1"
    assert await _World().refusal(sign(make_key("ec-1"), _claims(), crit=["unheard-of"]))


@pytest.mark.req("AUTH-1")
async def test_a_new_key_is_learned_and_a_withdrawn_one_is_not_accepted_any_more() -> None:
    old, new = make_key("ec-1"), make_key("ec-2")
    world = _World(old)
    assert await world.verify(_token(old)) == "u-1"
    world.jwks = [new.public_jwk]
    world.now += 31
    assert await world.verify(_token(new)) == "u-1"
    assert world.reads == 2
    assert "does not publish" in await world.refusal(_token(old))


@pytest.mark.req("AUTH-1")
async def test_unknown_key_ids_are_remembered_and_cost_the_issuer_little() -> None:
    world = _World()
    await world.verify(_token())
    for attempt in range(50):
        await world.refusal(_token(IssuerKey(f"made-up-{attempt}", "ES256", make_key("x").private)))
    assert world.reads == 1, "not more often than once in 30 s"
    world.now += 31
    await world.refusal(_token(IssuerKey("made-up-0", "ES256", make_key("x").private)))
    assert world.reads == 1, "a key id that was unknown a moment ago is not asked for again"
    await world.refusal(_token(IssuerKey("another", "ES256", make_key("x").private)))
    assert world.reads == 2


@pytest.mark.req("AUTH-1")
async def test_stale_keys_are_used_while_the_issuer_is_away_but_not_for_ever() -> None:
    world = _World()
    await world.verify(_token())
    world.away = True
    world.now += timedelta(hours=23).total_seconds()
    assert await world.verify(_token()) == "u-1"
    assert await world.verify(_token()) == "u-1"
    assert world.reads == 2, "an issuer that is away is not asked for every request"
    world.now += timedelta(hours=2).total_seconds()
    with pytest.raises(IssuerUnavailableError):
        await world.verify(_token())
    world.away = False
    world.now += 31
    assert await world.verify(_token()) == "u-1"


async def test_a_key_that_cannot_be_looked_up_is_a_fault_and_no_refusal() -> None:
    world = _World()
    await world.verify(_token())
    world.away = True
    world.now += 31
    with pytest.raises(IssuerUnavailableError):
        await world.verify(_token(make_key("ec-2")))


async def test_many_requests_at_once_read_the_keys_once_and_one_that_leaves_takes_nothing_from_the_others() -> None:
    world = _World(freshness=replace(_FRESHNESS, at_most_every=timedelta()))
    tasks = [asyncio.create_task(world.verify(_token())) for _ in range(20)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError)
    assert found[1:] == ["u-1"] * 19
    assert world.reads == 1


async def test_keys_that_cannot_be_used_take_nothing_from_their_neighbours() -> None:
    weak = IssuerKey("weak", "RS256", rsa.generate_private_key(65_537, 1_024))
    good = make_key("ec-1")
    world = _World(weak, good)
    world.jwks += [
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
        {"kty": "EC", "kid": "broken", "crv": "P-256", "x": "!", "y": "!"},
        {"kid": "nothing"},
        {**make_key("enc").public_jwk, "use": "enc"},
    ]
    assert await world.verify(_token(good)) == "u-1"
    for key in (weak, make_key("enc")):
        assert "does not publish" in await world.refusal(_token(key))


async def test_a_token_without_a_key_id_is_checked_only_where_there_is_no_choice() -> None:
    unnamed = jwt.encode(_claims(), make_key("ec-1").private, algorithm="ES256")
    assert await _World(make_key("ec-1"), make_key("rsa-1", "RS256")).verify(unnamed) == "u-1"
    assert await _World(make_key("ec-1"), make_key("ec-2")).refusal(unnamed)


async def test_a_token_seen_before_is_not_verified_again_and_still_expires() -> None:
    world, clock = _World(), [time.time()]
    rules = IdentityRules(_ISSUER, ClaimNames(), {})
    recognise = RecogniseToken(world.verifier, rules, audience=AUDIENCE, clock=lambda: clock[0])
    short, long = _token(exp=int(clock[0]) + 20), _token()
    for token in (short, long, short, long):
        assert (await recognise.execute(token)).owner_id == "u-1"
    world.jwks, world.now = [], world.now + 3_600
    assert (await recognise.execute(long)).owner_id == "u-1"
    clock[0] += 21
    with pytest.raises(TokenRefusedError):
        await recognise.execute(short)
    clock[0] += 40
    with pytest.raises(TokenRefusedError):
        await recognise.execute(long)


def _segment(content: dict[str, Any]) -> str:
    return _encoded(json.dumps(content).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
