"""What every converter returns."""

from dataclasses import dataclass
from typing import Literal

MediaType = Literal["text/markdown", "text/plain"]

# About twice the longest books; more is a table dump or an attack, and nobody would find anything in it.
MAX_TEXT_CHARACTERS = 10_000_000


@dataclass(frozen=True, slots=True)
class ConvertedDocument:
    """`title` is empty where the file names none. `remark` tells the owner what of the file could not be read."""

    title: str
    text: str
    media_type: MediaType
    remark: str = ""
