"""A packed passage: what the answering model may draw on and what a citation points at."""

from dataclasses import dataclass
from typing import Literal

PassageOrigin = Literal["knowledge", "web"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk, packed into the answer call.

    `n` is the citation number of its record: several passages of one record share it. Numbers are given when the
    context is packed, so they are final while the text streams.
    """

    n: int
    record_id: str
    chunk_id: str
    title: str
    text: str
    url: str
    source_system: str
    origin: PassageOrigin = "knowledge"
