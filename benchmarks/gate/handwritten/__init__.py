"""Sentences written by hand on passages of our own, one file per language; the gate was not tuned on them."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files

from benchmarks.gate.classes import Sample
from services.chat_api.domain.passages import Passage


def read_handwritten(language: str) -> Iterator[Sample]:
    """All passages of the file are packed; a sentence may carry its own marker."""
    raw = tomllib.loads((files(__package__) / f"{language}.toml").read_text(encoding="utf-8"))
    passages = tuple(
        Passage(p["n"], f"record-{p['n']}", f"chunk-{p['n']}", p["title"], p["text"].strip(), "", "handwritten")
        for p in raw["passage"]
    )
    for case in raw["case"]:
        for true in (True, False):
            for text in case[str(true).lower()]:
                yield Sample("handwritten", true, case["question"], passages, text, None)
