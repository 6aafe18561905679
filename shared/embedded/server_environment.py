"""What a server's process may see of our environment: nothing that could hold a secret."""

import locale
from collections.abc import Mapping

_UTF8_LOCALES = ("C.UTF-8", "en_US.UTF-8", "C.utf8")


def server_environment() -> Mapping[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": utf8_locale(), "TZ": "UTC"}


def utf8_locale() -> str:
    """The first of the usual UTF-8 locales that this system knows; `C` where it knows none."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        for name in _UTF8_LOCALES:
            try:
                locale.setlocale(locale.LC_CTYPE, name)
            except locale.Error:
                continue
            return name
        return "C"
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
