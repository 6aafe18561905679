"""Values that stand in files, as containers are given secrets: `ACHILLES_X_FILE` names the file of `ACHILLES_X`."""

from collections.abc import Mapping
from pathlib import Path

_PREFIX = "ACHILLES_"
_SUFFIX = "_FILE"
_LARGEST_BYTES = 64 * 1024


class SecretFileError(ValueError):
    """A file that was named cannot be used. The text names variable and file, never what is in it."""


def with_secret_files(environment: Mapping[str, str | None]) -> dict[str, str | None]:
    """The environment, and each value whose file it names; line ends at the end of a file do not count.

    Raises SecretFileError for a file that cannot be read or is empty, and for a value that is given twice.
    """
    values = dict(environment)
    for name, path in environment.items():
        if path and name.upper().startswith(_PREFIX) and name.upper().endswith(_SUFFIX):
            variable = name[: -len(_SUFFIX)]
            if values.get(variable):
                raise SecretFileError(f"{variable.upper()} and {name.upper()} are both set: keep one of them")
            values[variable] = _content(name.upper(), Path(path))
    return values


def _content(variable: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
        text = content.decode().rstrip("\r\n")
    except OSError as fault:
        raise SecretFileError(f"{variable} names {path}, which cannot be read ({type(fault).__name__})") from None
    except UnicodeDecodeError:
        raise SecretFileError(f"{variable} names {path}, which is not UTF-8 text") from None
    if not text or len(content) > _LARGEST_BYTES:
        raise SecretFileError(f"{variable} names {path}, which is {'too large' if text else 'empty'}")
    return text
