"""Conversion in a process of its own: a file that hangs, eats memory or brings its parser down harms no other."""

import contextlib
import json
import multiprocessing
import threading
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from services.knowledge_store.adapters.documents.conversion_worker import ConversionLimits, run_worker
from services.knowledge_store.adapters.documents.converted import ConvertedDocument
from services.knowledge_store.domain.errors import UnreadableFileError

_DEFAULT_LIMITS = ConversionLimits()
_START_SECONDS = 120.0


class ConversionProcess:
    """Started with the first file, replaced after a fault. Its calls block: use it in a thread."""

    def __init__(self, limits: ConversionLimits = _DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def convert(self, kind: str, content: bytes) -> ConvertedDocument:
        """`kind` is a key of CONVERTERS. Raises `UnreadableFileError`."""
        with self._lock:
            try:
                answer = self._ask(kind, content)
            except BaseException:
                self._end()
                raise
        fields = json.loads(answer)
        if "reason" in fields:
            raise UnreadableFileError(fields["reason"])
        return ConvertedDocument(**fields)

    def close(self) -> None:
        """A file that is being read is given up."""
        process = self._process
        if process is not None:
            with contextlib.suppress(ValueError):  # closed in between
                process.kill()
        with self._lock:
            self._end()

    def _ask(self, kind: str, content: bytes) -> bytes:
        connection = self._open()
        try:
            connection.send_bytes(kind.encode())
            # Loading the parser is not the file's time.
            if not connection.poll(_START_SECONDS):
                raise UnreadableFileError("the process that reads such files does not start")
            connection.recv_bytes()
            connection.send_bytes(content)
            if not connection.poll(self._limits.wait_seconds):
                raise UnreadableFileError(f"reading it took more than {self._limits.wait_seconds:.0f} seconds")
            return connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise UnreadableFileError("reading it needs too much memory or time, or the file is damaged") from error

    def _open(self) -> Connection:
        if self._connection is None or self._process is None or not self._process.is_alive():
            self._end()
            # A fresh interpreter: a fork would take the threads' locks and the database connections along.
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(
                target=run_worker, args=(theirs, self._limits), name="document-reader", daemon=True
            )
            self._process.start()
            theirs.close()
        return self._connection

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        self._connection = self._process = None
