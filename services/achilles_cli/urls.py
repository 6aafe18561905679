"""Addresses that may be shown."""

from urllib.parse import urlsplit, urlunsplit


def without_password(url: str) -> str:
    """Without user, password, query and fragment; each of them can hold a secret."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
