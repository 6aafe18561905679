"""The configuration of the embedded PostgreSQL, and the lock file that a crash leaves behind."""

from contextlib import suppress
from pathlib import Path

import psutil

from shared.embedded.ports import LOOPBACK

# A small machine, short queries. Details and statements stay out of the log: they can hold what a user wrote.
_SETTINGS = f"""\
listen_addresses = '{LOOPBACK}'
unix_socket_directories = ''
max_connections = 200
password_encryption = 'scram-sha-256'
shared_buffers = 128MB
max_wal_size = 1GB
checkpoint_timeout = 15min
wal_level = minimal
max_wal_senders = 0
io_method = sync
jit = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
random_page_cost = 1.1
client_connection_check_interval = 10s
timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, mdy'
lc_messages = 'C'
default_text_search_config = 'pg_catalog.simple'
log_line_prefix = '%m [%p] %a '
log_error_verbosity = terse
log_min_error_statement = panic
log_parameter_max_length = 0
"""

# Commits stay synchronous: what was committed survives a kill of the processes, though not of the machine.
_NOT_DURABLE = """\
fsync = off
full_page_writes = off
"""


def postgres_configuration(port: int, *, durable: bool) -> str:
    return f"{_SETTINGS}port = {port}\n{'' if durable else _NOT_DURABLE}"


def remove_stale_pid_file(cluster: Path) -> None:
    """After a crash the noted process id can belong to a stranger, and PostgreSQL would refuse to start.

    To be called by the holder of the data folder's lock. A PostgreSQL that does run there keeps its file.
    """
    path = cluster / "postmaster.pid"
    with suppress(FileNotFoundError, ValueError, IndexError):
        pid = int(path.read_text().splitlines()[0])
        if not _is_postgres_of(pid, cluster):
            path.unlink()


def _is_postgres_of(pid: int, cluster: Path) -> bool:
    try:
        process = psutil.Process(pid)
        return process.name().startswith("postgres") and process.cwd() == str(cluster.resolve())
    except psutil.AccessDenied:
        return True
    except psutil.NoSuchProcess:
        return False
