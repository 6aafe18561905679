"""A TCP proxy that cuts, delays and mutes what passes through it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit, urlunsplit

_PIECE = 65_536


class _Link:
    """One client's connection and the one that was opened for it."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._ends = (client, server)
        self.lost_bytes = False

    def abort(self) -> None:
        for end in self._ends:
            end.transport.abort()


class TcpProxy:
    """Stands before one server. Everything passes until one of the faults is called, and again after `mend`."""

    def __init__(self, target_url: str) -> None:
        parts = urlsplit(target_url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 0)
        self._port = 0
        self._server: asyncio.Server | None = None
        self._links: set[_Link] = set()
        self._refusing = False
        self._muted = False
        self._delay = 0.0

    def through(self, url: str) -> str:
        """The same URL, by way of this proxy."""
        parts = urlsplit(url)
        credentials = parts.netloc.rpartition("@")[0]
        address = f"127.0.0.1:{self._port}"
        return urlunsplit(parts._replace(netloc=f"{credentials}@{address}" if credentials else address))

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._abort_all()
        if self._server:
            self._server.close()
            # The handlers of aborted connections still have to notice.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(5):
                    await self._server.wait_closed()

    def cut(self) -> None:
        """Reset every connection, and each new one until `mend`."""
        self._refusing = True
        self._abort_all()

    def mute(self) -> None:
        """What clients say arrives, what servers reply is lost: a commit whose reply nobody hears."""
        self._muted = True

    def delay(self, seconds: float) -> None:
        """Everything takes this much longer in each direction."""
        self._delay = seconds

    def mend(self) -> None:
        """A connection that lost bytes cannot go on, and is reset."""
        self._refusing = self._muted = False
        self._delay = 0.0
        for link in [link for link in self._links if link.lost_bytes]:
            link.abort()

    def _abort_all(self) -> None:
        for link in list(self._links):
            link.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            writer.transport.abort()
            return
        try:
            to_reader, to_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        link = _Link(writer, to_writer)
        self._links.add(link)
        asking = asyncio.create_task(_pump(reader, self._passing(to_writer)))
        replying = asyncio.create_task(_pump(to_reader, self._replying(writer, link)))
        try:
            await asyncio.wait((asking, replying), return_when=asyncio.FIRST_COMPLETED)
        finally:
            asking.cancel()
            replying.cancel()
            link.abort()
            self._links.discard(link)

    def _passing(self, writer: asyncio.StreamWriter) -> Callable[[bytes], Awaitable[None]]:
        async def write(data: bytes) -> None:
            if self._delay:
                await asyncio.sleep(self._delay)
            writer.write(data)
            await writer.drain()

        return write

    def _replying(self, writer: asyncio.StreamWriter, link: _Link) -> Callable[[bytes], Awaitable[None]]:
        write = self._passing(writer)

        async def write_unless_muted(data: bytes) -> None:
            if self._muted or link.lost_bytes:
                link.lost_bytes = True
            else:
                await write(data)

        return write_unless_muted


async def _pump(reader: asyncio.StreamReader, write: Callable[[bytes], Awaitable[None]]) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_PIECE):
            await write(data)
