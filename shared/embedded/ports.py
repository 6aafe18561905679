"""Ports on loopback that stay the same from start to start."""

import random
import socket
import sys
from contextlib import closing
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from shared.embedded.private_files import write_private

LOOPBACK = "127.0.0.1"

_CONTENT = TypeAdapter(dict[str, int])
_LOWEST, _HIGHEST = 15_000, 29_999
_LINUX_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def is_port_free(port: int, host: str = LOOPBACK) -> bool:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        # As the servers do: connections of an earlier run that linger in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def find_free_port(exclude: frozenset[int] = frozenset()) -> int:
    """A free port outside the ephemeral range.

    Inside it, a client that reconnects to a stopped server can be given the server's own port as its source, connect
    to itself, and so keep the server from starting again.
    """
    first, last = _ephemeral_range()
    candidates = [p for p in range(_LOWEST, _HIGHEST) if not first <= p <= last and p not in exclude]
    for port in random.sample(candidates, len(candidates)):
        if is_port_free(port):
            return port
    raise OSError(f"no free port between {_LOWEST} and {_HIGHEST}")


class PortBook:
    """Remembers in a file which port each server was given."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def choose(self, name: str) -> int:
        """The remembered port of `name` if it is free, otherwise a new one, which is then remembered."""
        book = self._read()
        port = book.get(name)
        if port is None or not is_port_free(port):
            book[name] = find_free_port(exclude=frozenset(book.values()))
            write_private(self._path, _CONTENT.dump_json(book, indent=2).decode())
        return book[name]

    def get(self, name: str) -> int | None:
        """The remembered port, whether or not somebody listens on it."""
        return self._read().get(name)

    def _read(self) -> dict[str, int]:
        try:
            return _CONTENT.validate_json(self._path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return {}


def _ephemeral_range() -> tuple[int, int]:
    if sys.platform == "linux" and _LINUX_EPHEMERAL.exists():
        first, last = _LINUX_EPHEMERAL.read_text().split()
        if int(last) - int(first) < 60_000 and int(first) > _LOWEST + 1_000:
            return int(first), int(last)
    return 32_768, 65_535
