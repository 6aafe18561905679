"""A proxy before NATS that puts a line of its own into what the server says to one client."""

import asyncio
import contextlib
import re
from urllib.parse import urlsplit

_PIECE = 65_536
_NAME = re.compile(rb'"name":\s*"([^"]*)"')


class InterjectingProxy:
    def __init__(self, target_url: str) -> None:
        self._target = urlsplit(target_url)
        self._server: asyncio.Server | None = None
        self._clients: dict[str, asyncio.StreamWriter] = {}
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        user = self._target.netloc.rpartition("@")[0]
        return f"nats://{user}@127.0.0.1:{port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await self._server.wait_closed()

    def say(self, client_name: str, line: bytes) -> None:
        """To the newest connection of that name. Raises KeyError where there never was one."""
        self._clients[client_name].write(line + b"\r\n")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        self._open |= {writer, to_writer}
        pumps = [
            asyncio.create_task(self._pump(reader, to_writer, told_by=writer)),
            asyncio.create_task(self._pump(to_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            for end in (writer, to_writer):
                end.transport.abort()
                self._open.discard(end)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, told_by: asyncio.StreamWriter | None = None
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(_PIECE):
                name = _NAME.search(piece) if told_by and piece.startswith(b"CONNECT") else None
                if name and told_by:
                    self._clients[name[1].decode()] = told_by
                writer.write(piece)
                await writer.drain()
