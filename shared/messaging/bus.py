"""The front's connection to NATS. It comes and goes without anybody waiting for it."""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Collection
from urllib.parse import urlsplit

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from shared.events.streams import ALL_STREAMS
from shared.messaging.provisioning import ensure_streams

logger = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0
_PUBLISH_SECONDS = 2.0
_DENIED = re.compile(r'permissions violation for (?P<operation>publish|subscription) to "?(?P<subject>[^"\s]+)', re.I)


class BusUnavailableError(Exception):
    """NATS cannot be reached now. Events wait in the outbox."""


class PublishDeniedError(Exception):
    """The broker refuses this subject to our user. Waiting changes nothing: somebody has to give the right."""


def inbox_prefix(url: str) -> str:
    """Replies come to a subject of the user's own, so that no user needs the right to read those of others."""
    user = urlsplit(url).username
    return f"_INBOX.{user}" if user else "_INBOX"


def error_logger(on_denied: Callable[[str], None] | None = None) -> Callable[[Exception], Awaitable[None]]:
    """For a client's errors. `on_denied` hears of each refused subject, in lower case as the library reports it."""

    async def on_error(fault: Exception) -> None:
        # The library's own callback prints a traceback each time, and one that raises would end its reconnect task.
        denied = _DENIED.search(str(fault))
        if denied is None:
            logger.warning("bus_error", extra={"error": type(fault).__name__})
            return
        logger.error("bus_permission_denied", extra={"operation": denied["operation"], "subject": denied["subject"]})
        if on_denied:
            on_denied(denied["subject"])

    return on_error


async def connect_nats(url: str, *, name: str, on_denied: Callable[[str], None] | None = None) -> Client:
    """Connect, and keep reconnecting for as long as the client lives."""
    return await nats.connect(
        url,
        name=name,
        connect_timeout=2,
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.5,
        ping_interval=10,
        max_outstanding_pings=2,
        error_cb=error_logger(on_denied),
        inbox_prefix=inbox_prefix(url),
    )


async def provision_bus(url: str) -> None:
    """Create the missing streams, as a user who may. Raises an error of nats-py."""
    client = await connect_nats(url, name="provisioning")
    try:
        await ensure_streams(client.jetstream(timeout=5))
    finally:
        await client.close()


class Bus:
    """Holds one connection, opened in the background and opened anew when it is closed for good."""

    def __init__(self, url: str, *, name: str, provision: Collection[str] = ALL_STREAMS, replicas: int = 1) -> None:
        """`provision` names the streams that this user of the bus may create where they are missing.

        `replicas` says on how many servers.
        """
        self._url = url
        self._name = name
        self._provision = provision
        self._replicas = replicas
        self._denied: set[str] = set()
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._listeners: list[tuple[str, Callable[[bytes], Awaitable[None]]]] = []

    def listen(self, subject: str, handle: Callable[[bytes], Awaitable[None]]) -> None:
        """Call `handle` with the body of everything published on `subject` from now on. Register before `start`."""
        self._listeners.append((subject, handle))

    def start(self) -> None:
        self._task = asyncio.create_task(self._stay_connected(), name="bus")

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._client:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(2):
                    await self._client.close()

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def publish(self, subject: str, payload: bytes, *, stream: str, headers: dict[str, str]) -> None:
        """Returns once the stream has it. Raises PublishDeniedError, BusUnavailableError or an error of nats-py."""
        self._denied.discard(subject.lower())
        try:
            await self.jetstream.publish(subject, payload, stream=stream, headers=headers, timeout=_PUBLISH_SECONDS)
        except TimeoutError as fault:
            # The broker tells of a refusal beside the reply that never comes.
            if subject.lower() in self._denied:
                raise PublishDeniedError(subject) from fault
            raise

    async def provision(self) -> None:
        """Create what is missing and ours to create."""
        if self._provision:
            await ensure_streams(self.jetstream, self._provision, replicas=self._replicas)

    @property
    def jetstream(self) -> JetStreamContext:
        """Raises BusUnavailableError while there is no connection."""
        if self._client is None or not self._client.is_connected:
            raise BusUnavailableError
        return self._client.jetstream(timeout=2)

    async def _stay_connected(self) -> None:
        while True:
            try:
                if self._client is None or self._client.is_closed:
                    await self._open()
            except Exception as fault:  # noqa: BLE001 (whatever the broker does, the front goes on)
                logger.warning("bus_not_connected", extra={"error": type(fault).__name__})
            await asyncio.sleep(_RETRY_SECONDS)

    async def _open(self) -> None:
        client = await connect_nats(self._url, name=self._name, on_denied=self._denied.add)
        self._client = client
        for subject, handle in self._listeners:
            await client.subscribe(subject, cb=_guarded(handle))
        await self.provision()
        logger.info("bus_connected")


def _guarded(handle: Callable[[bytes], Awaitable[None]]) -> Callable[[Msg], Awaitable[None]]:
    async def on_message(message: Msg) -> None:
        try:
            await handle(message.data)
        except Exception:
            logger.exception("bus_listener_failed", extra={"subject": message.subject})

    return on_message
