"""PostgreSQL as a child: SCRAM on loopback, no Unix socket."""

import signal
from pathlib import Path

from shared.embedded.data_folder import DataFolder
from shared.embedded.errors import ProcessFailedError
from shared.embedded.ports import LOOPBACK
from shared.embedded.postgres_files import postgres_configuration, remove_stale_pid_file
from shared.embedded.private_files import write_private
from shared.embedded.probes import check_postgres, connect_postgres
from shared.embedded.processes import ManagedProcess, ProcessSpec, describe_exit
from shared.embedded.programs import find_postgres, reachable_executable
from shared.embedded.server import EmbeddedServer
from shared.embedded.server_environment import server_environment, utf8_locale

SUPERUSER = "achilles"
DATABASE = "achilles"


class EmbeddedPostgres(EmbeddedServer):
    """One cluster in `postgres/`. `durable=False` is for tests: fast, and a crash of the machine may lose data."""

    name = "postgres"

    def __init__(self, folder: DataFolder, *, durable: bool = True) -> None:
        super().__init__(folder)
        self._durable = durable

    @property
    def url(self) -> str:
        return self.database_url(DATABASE)

    def database_url(self, database: str) -> str:
        return f"postgresql://{SUPERUSER}:{self._password}@{LOOPBACK}:{self.port}/{database}"

    @property
    def cluster(self) -> Path:
        return self._folder.root / "postgres"

    @property
    def is_created(self) -> bool:
        return (self.cluster / "PG_VERSION").exists()

    async def check(self) -> None:
        await check_postgres(self.database_url("postgres"))

    async def prepare(self) -> ProcessSpec:
        executable = reachable_executable(find_postgres(), self._folder)
        if not self.is_created:
            await self._create_cluster(executable.parent)
        self._folder.server_folder("postgres")
        remove_stale_pid_file(self.cluster)
        configuration = self._folder.config / "postgresql.conf"
        write_private(configuration, postgres_configuration(self.port, durable=self._durable), self._owner)
        return ProcessSpec(
            name=self.name,
            command=(str(executable), "-D", str(self.cluster), "-c", f"config_file={configuration}"),
            log_file=self._folder.logs / "postgres.log",
            environment=server_environment(),
            folder=self.cluster,
            run_as=self._folder.run_as,
            pid_file=self._folder.pids / "postgres.pid",
            stop_signal=signal.SIGINT,  # fast shutdown: sessions are ended, then a checkpoint
            death_signal=signal.SIGQUIT,
        )

    async def complete(self) -> None:
        connection = await connect_postgres(self.database_url("postgres"))
        try:
            if not await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", DATABASE):
                await connection.execute(f'CREATE DATABASE "{DATABASE}"')
        finally:
            await connection.close()

    @property
    def _password(self) -> str:
        return self._folder.secrets.get_or_create("postgres_password")

    @property
    def _owner(self) -> tuple[int, int] | None:
        return self._folder.run_as.owner if self._folder.run_as else None

    async def _create_cluster(self, programs: Path) -> None:
        """Complete or not at all: built in a workshop folder and moved into place."""
        workshop = self._folder.empty_workshop("postgres.new")
        password_file = self._folder.config / "initdb-password"
        write_private(password_file, self._password, self._owner)
        process = ManagedProcess(
            ProcessSpec(
                name="initdb",
                command=self._initdb_command(programs / "initdb", workshop / "cluster", password_file),
                log_file=self._folder.logs / "initdb.log",
                environment=server_environment(),
                run_as=self._folder.run_as,
            )
        )
        try:
            process.start()
            if code := await process.wait():
                raise ProcessFailedError(f"initdb ended with {describe_exit(code)}", process.log_tail())
            (workshop / "cluster").rename(self.cluster)
            workshop.rmdir()
        finally:
            await process.kill()
            password_file.unlink(missing_ok=True)

    def _initdb_command(self, initdb: Path, cluster: Path, password_file: Path) -> tuple[str, ...]:
        return (
            str(initdb),
            f"--pgdata={cluster}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            f"--locale={utf8_locale()}",
            "--data-checksums",
            "--text-search-config=simple",
            *(() if self._durable else ("--no-sync",)),
        )
