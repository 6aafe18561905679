"""Valkey as a child: a cache, nothing is kept on disk."""

from shared.embedded.ports import LOOPBACK
from shared.embedded.private_files import write_private
from shared.embedded.probes import check_valkey
from shared.embedded.processes import ProcessSpec
from shared.embedded.programs import find_valkey, reachable_executable
from shared.embedded.server import EmbeddedServer
from shared.embedded.server_environment import server_environment


class EmbeddedValkey(EmbeddedServer):
    """At most 64 MiB; the least recently used entry goes first."""

    name = "valkey"

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@{LOOPBACK}:{self.port}/0"

    async def check(self) -> None:
        await check_valkey(self.url)

    async def prepare(self) -> ProcessSpec:
        folder = self._folder.server_folder("valkey")
        configuration = self._folder.config / "valkey.conf"
        owner = self._folder.run_as.owner if self._folder.run_as else None
        write_private(configuration, self._configuration(str(folder)), owner)
        return ProcessSpec(
            name=self.name,
            command=(str(reachable_executable(find_valkey(), self._folder)), str(configuration)),
            log_file=self._folder.logs / "valkey.log",
            environment=server_environment(),
            folder=folder,
            run_as=self._folder.run_as,
            pid_file=self._folder.pids / "valkey.pid",
        )

    def _configuration(self, folder: str) -> str:
        lines = (
            f"bind {LOOPBACK}",
            f"port {self.port}",
            "protected-mode yes",
            f"requirepass {self._password}",
            f'dir "{folder}"',
            "daemonize no",
            'save ""',
            "appendonly no",
            "maxmemory 64mb",
            "maxmemory-policy allkeys-lru",
        )
        return "\n".join(lines) + "\n"

    @property
    def _password(self) -> str:
        return self._folder.secrets.get_or_create("valkey_password")
