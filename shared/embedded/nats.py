"""NATS with JetStream as a child."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from shared.embedded.data_folder import DataFolder
from shared.embedded.ports import LOOPBACK
from shared.embedded.private_files import write_private
from shared.embedded.probes import check_nats
from shared.embedded.processes import ProcessSpec
from shared.embedded.programs import find_nats, reachable_executable
from shared.embedded.server import EmbeddedServer
from shared.embedded.server_environment import server_environment

_MONITOR = "nats_monitor"


@dataclass(frozen=True, slots=True)
class NatsUser:
    """A user of the bus. `publish` and `subscribe` list the allowed subjects; `None` allows every subject."""

    name: str
    publish: tuple[str, ...] | None = None
    subscribe: tuple[str, ...] | None = None
    allow_responses: bool = False

    @property
    def secret_name(self) -> str:
        return f"nats_password_{self.name}"


FULL_USER = NatsUser("achilles")


class EmbeddedNats(EmbeddedServer):
    """One server, its JetStream store in `nats/`. The first of `users` must be allowed everything: it checks and
    provisions."""

    name = "nats"

    def __init__(self, folder: DataFolder, users: Sequence[NatsUser] = (FULL_USER,)) -> None:
        super().__init__(folder)
        self._users = tuple(users)
        self._monitor_port: int | None = None

    @property
    def url(self) -> str:
        return self.user_url(self._users[0].name)

    def user_url(self, name: str) -> str:
        """Raises KeyError for a user this server does not have."""
        user = {u.name: u for u in self._users}[name]
        return f"nats://{user.name}:{self._password(user)}@{LOOPBACK}:{self.port}"

    @property
    def monitor_url(self) -> str:
        """Server figures over HTTP, without a password, on loopback only."""
        if self._monitor_port is None:
            self._monitor_port = self._folder.ports.choose(_MONITOR)
        return f"http://{LOOPBACK}:{self._monitor_port}"

    async def check(self) -> None:
        await check_nats(self.url)

    async def prepare(self) -> ProcessSpec:
        store = self._folder.server_folder("nats")
        configuration = self._folder.config / "nats.conf"
        owner = self._folder.run_as.owner if self._folder.run_as else None
        write_private(configuration, self._configuration(str(store)), owner)
        return ProcessSpec(
            name=self.name,
            command=(str(reachable_executable(find_nats(), self._folder)), "--config", str(configuration)),
            log_file=self._folder.logs / "nats.log",
            environment=server_environment(),
            folder=store,
            run_as=self._folder.run_as,
            pid_file=self._folder.pids / "nats.pid",
        )

    def _configuration(self, store: str) -> str:
        # JSON is a subset of the configuration language, and quotes every value for us.
        content = {
            "server_name": "achilles",
            "listen": f"{LOOPBACK}:{self.port}",
            "http": self.monitor_url.removeprefix("http://"),
            "jetstream": {"store_dir": store, "max_memory_store": 64 * 1024**2, "max_file_store": 64 * 1024**3},
            "authorization": {"users": [user_entry(user, self._password(user)) for user in self._users]},
        }
        return json.dumps(content, indent=2)

    def _password(self, user: NatsUser) -> str:
        return self._folder.secrets.get_or_create(user.secret_name)


def user_entry(user: NatsUser, password: str) -> dict[str, object]:
    """The user as one entry of `authorization.users`."""
    entry: dict[str, object] = {"user": user.name, "password": password}
    rights: dict[str, object] = {}
    if user.publish is not None:
        rights["publish"] = {"allow": list(user.publish)} if user.publish else {"deny": [">"]}
    if user.subscribe is not None:
        rights["subscribe"] = {"allow": list(user.subscribe)} if user.subscribe else {"deny": [">"]}
    if user.allow_responses:
        rights["allow_responses"] = True
    if rights:
        entry["permissions"] = rights
    return entry
