"""The proxy that disturbs connections does what its faults promise."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.unit, pytest.mark.p1]
_RESET = (ConnectionError, asyncio.IncompleteReadError)


class _Echo:
    """Answers each line with itself, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.lines = asyncio.Condition()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            async with self.lines:
                self.heard.append(line)
                self.lines.notify_all()
            writer.write(line)
        writer.close()


@pytest.fixture
def echo() -> _Echo:
    return _Echo()


@pytest_asyncio.fixture
async def proxy(echo: _Echo) -> AsyncIterator[TcpProxy]:
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    proxy = TcpProxy(f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await proxy.start()
    yield proxy
    await proxy.stop()
    server.close()


async def _connect(proxy: TcpProxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = proxy.through("tcp://127.0.0.1:1").removeprefix("tcp://").partition(":")
    return await asyncio.open_connection(host, int(port))


async def _say(link: tuple[asyncio.StreamReader, asyncio.StreamWriter], line: bytes) -> bytes:
    reader, writer = link
    writer.write(line)
    return await reader.readuntil()


def test_an_address_keeps_its_user_and_path() -> None:
    assert TcpProxy("nats://127.0.0.1:4222").through("postgresql://a:b@h:1/name") == "postgresql://a:b@127.0.0.1:0/name"


async def test_everything_passes_while_nothing_is_disturbed(proxy: TcpProxy) -> None:
    assert await _say(await _connect(proxy), b"hello\n") == b"hello\n"


async def test_a_cut_resets_connections_and_new_ones_until_mended(proxy: TcpProxy) -> None:
    link = await _connect(proxy)
    await _say(link, b"before\n")
    proxy.cut()
    with pytest.raises(_RESET):
        await _say(link, b"cut\n")
    with pytest.raises(_RESET):
        await _say(await _connect(proxy), b"cut\n")
    proxy.mend()
    assert await _say(await _connect(proxy), b"after\n") == b"after\n"


async def test_a_mute_delivers_the_request_and_loses_the_reply(proxy: TcpProxy, echo: _Echo) -> None:
    link = await _connect(proxy)
    await _say(link, b"before\n")
    proxy.mute()
    replying = asyncio.create_task(_say(link, b"commit\n"))
    async with asyncio.timeout(5), echo.lines:
        await echo.lines.wait_for(lambda: b"commit\n" in echo.heard)
    await asyncio.sleep(0.1)
    assert not replying.done()
    proxy.mend()
    with pytest.raises(_RESET):
        await replying


async def test_a_delay_takes_its_time_in_each_direction(proxy: TcpProxy) -> None:
    link = await _connect(proxy)
    proxy.delay(0.1)
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert await _say(link, b"slow\n") == b"slow\n"
    assert loop.time() - started >= 0.19
