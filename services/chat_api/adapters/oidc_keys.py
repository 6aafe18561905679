"""The public keys of an issuer (JSON Web Key Set), each with the algorithms it may be used for."""

from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.algorithms import AllowedPublicKeys
from jwt.exceptions import PyJWKError, PyJWTError
from pydantic import BaseModel, ConfigDict

_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
# A key fits its own curve only; a symmetric key (`oct`) fits nothing here.
_ALGORITHMS: Mapping[tuple[str, str | None], frozenset[str]] = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
_LEAST_RSA_BITS = 2_048
_MOST_KEYS = 100


class JsonWebKey(BaseModel):
    model_config = ConfigDict(extra="allow")

    kty: str
    kid: str | None = None
    use: str | None = None
    alg: str | None = None
    crv: str | None = None


class JsonWebKeys(BaseModel):
    keys: tuple[dict[str, object], ...]


@dataclass(frozen=True, slots=True)
class SigningKey:
    kid: str | None
    algorithms: frozenset[str]
    public_key: AllowedPublicKeys


SigningKeys = tuple[SigningKey, ...]


def read_signing_keys(found: JsonWebKeys) -> SigningKeys:
    """One key that cannot be used takes nothing from its neighbours."""
    keys = (_read_key(fields) for fields in found.keys[:_MOST_KEYS])
    return tuple(key for key in keys if key is not None)


def _read_key(fields: dict[str, object]) -> SigningKey | None:
    try:
        key = JsonWebKey.model_validate(fields)
        algorithms = _ALGORITHMS.get((key.kty, key.crv), frozenset())
        if key.alg is not None:
            algorithms &= {key.alg}
        if not algorithms or key.use not in (None, "sig"):
            return None
        public = PyJWK(fields, algorithm=min(algorithms)).key
    except (ValueError, TypeError, PyJWTError, PyJWKError):
        return None
    if isinstance(public, RSAPublicKey) and public.key_size < _LEAST_RSA_BITS:
        return None
    return SigningKey(key.kid, algorithms, public)


def choose_key(keys: SigningKeys, kid: str | None, algorithm: str) -> SigningKey | None:
    """The key that a token names; one that names none is only checked where there is no choice."""
    fitting = [key for key in keys if algorithm in key.algorithms and kid in (None, key.kid)]
    return fitting[0] if len(fitting) == 1 or (kid is not None and fitting) else None
