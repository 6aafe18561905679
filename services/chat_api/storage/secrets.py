"""Secrets that are handed out once and kept as their hash. 256 random bits need no slow hash: nobody can guess them."""

import hashlib
import secrets


def new_secret() -> str:
    """43 characters that are safe in cookies, headers and URLs."""
    return secrets.token_urlsafe(32)


def hash_of(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
