"""Embeddings that were computed before: the demo handbook need not wait for them."""

import struct
from collections.abc import Mapping
from pathlib import Path

from services.knowledge_store.domain.embedder import EMBEDDING_DIMENSIONS
from services.knowledge_store.domain.records import Vector

# The start of the chunk's hash, which also covers the model, and its vector in half precision.
_HASH_BYTES = 16
_ENTRY = struct.Struct(f"<{_HASH_BYTES}s{EMBEDDING_DIMENSIONS}e")


class VectorFile:
    """Looked up by chunk hash. A text that changed since is simply not in it."""

    def __init__(self, content: bytes) -> None:
        """Raises ValueError for a file that was cut."""
        if len(content) % _ENTRY.size:
            raise ValueError("the vector file is damaged")
        self._vectors: dict[bytes, Vector] = {entry[0]: entry[1:] for entry in _ENTRY.iter_unpack(content)}

    def find(self, chunk_hash: str) -> Vector | None:
        return self._vectors.get(_key(chunk_hash))


def read_vector_file(path: Path) -> VectorFile:
    return VectorFile(path.read_bytes())


def pack_vectors(vectors: Mapping[str, Vector]) -> bytes:
    """Sorted, so that the same vectors give the same file."""
    return b"".join(_ENTRY.pack(_key(chunk_hash), *vectors[chunk_hash]) for chunk_hash in sorted(vectors))


def _key(chunk_hash: str) -> bytes:
    return bytes.fromhex(chunk_hash)[:_HASH_BYTES]
