"""The other side of `conversion.py`: bounded in memory and processor time, and silent."""

import json
import logging
import math
import resource
import signal
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection

from services.knowledge_store.adapters.documents.converted import MAX_TEXT_CHARACTERS, ConvertedDocument
from services.knowledge_store.domain.errors import UnreadableFileError

READY = b"ready"


@dataclass(frozen=True, slots=True)
class ConversionLimits:
    """`processor_seconds` is what one file may cost. `wait_seconds`, more than that, allows for a busy machine."""

    processor_seconds: float = 45.0
    wait_seconds: float = 180.0
    memory_bytes: int = 1024**3


def run_worker(connection: Connection, limits: ConversionLimits) -> None:
    """File by file until the other side closes: take the kind, load its parser, say so, take the bytes, answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Parsers log what they stumble over, and that is the content of a file.
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    while True:
        try:
            kind = connection.recv_bytes().decode()
            load_converter(kind)
            connection.send_bytes(READY)
            content = connection.recv_bytes()
        except EOFError:
            return
        _allow_processor_time(limits.processor_seconds)
        connection.send_bytes(json.dumps(answer(kind, content)).encode())


def answer(kind: str, content: bytes) -> dict[str, str]:
    """The fields of a ConvertedDocument, or why there is none."""
    try:
        return asdict(convert(kind, content))
    except UnreadableFileError as error:
        return {"reason": error.reason}
    except MemoryError:
        return {"reason": "reading it needs too much memory; split it into smaller files"}
    except RecursionError:
        return {"reason": "it is nested too deeply"}
    except Exception as error:  # noqa: BLE001 (a parser meets a broken file with whatever its code stumbles over)
        return {"reason": f"the file is damaged ({type(error).__name__})"}


def convert(kind: str, content: bytes) -> ConvertedDocument:
    """Raises `UnreadableFileError`, and whatever a parser raises."""
    converted = load_converter(kind)(content)
    if len(converted.text) > MAX_TEXT_CHARACTERS:
        raise UnreadableFileError("there is too much text in it; split it into smaller files")
    return converted


def load_converter(kind: str) -> Callable[[bytes], ConvertedDocument]:
    # Imported here: a parser that nobody needs is not loaded.
    if kind == "html":
        from services.knowledge_store.adapters.documents.html_markdown import convert_html

        return convert_html
    if kind == "docx":
        from services.knowledge_store.adapters.documents.docx_markdown import convert_docx

        return convert_docx
    from services.knowledge_store.adapters.documents.pdf_text import convert_pdf

    return convert_pdf


def _allow_processor_time(seconds: float) -> None:
    """Should the parent be killed, this process still ends by itself."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(usage.ru_utime + usage.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
