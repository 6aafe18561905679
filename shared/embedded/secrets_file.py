"""Generated passwords and tokens of an embedded installation."""

import secrets
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from shared.embedded.errors import SecretsUnreadableError
from shared.embedded.private_files import tighten, write_private

_CONTENT = TypeAdapter(dict[str, str])
_SECRET_BYTES = 24


class SecretsFile:
    """Name to secret, in a JSON file of mode 600. Values are hexadecimal: safe in URLs and configuration files."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"SecretsFile({str(self._path)!r})"

    def get(self, name: str) -> str | None:
        return self._read().get(name)

    def get_or_create(self, name: str) -> str:
        """The secret of that name, generated at the first call. Raises SecretsUnreadableError for a damaged file."""
        content = self._read()
        if name not in content:
            content[name] = secrets.token_hex(_SECRET_BYTES)
            write_private(self._path, _CONTENT.dump_json(content, indent=2).decode())
        return content[name]

    def _read(self) -> dict[str, str]:
        if not self._path.exists():
            return {}
        tighten(self._path)
        try:
            return _CONTENT.validate_json(self._path.read_bytes())
        except ValidationError:
            # The validation error itself would echo the content.
            raise SecretsUnreadableError(f"{self._path} is damaged: restore it, or choose a new data folder") from None
