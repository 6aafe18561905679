"""Read one record in full, for the page that a citation opens."""

from sqlalchemy.ext.asyncio import AsyncEngine

from services.knowledge_store.domain.access import principals_of
from services.knowledge_store.domain.errors import RecordNotFoundError
from services.knowledge_store.domain.records import Record
from services.knowledge_store.storage.record_store import RecordStore
from shared.identity import Identity


class RecordService:
    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def read(self, record_id: str, identity: Identity | None) -> Record:
        """Raises `RecordNotFoundError` for an unknown record and for one that this identity may not read, alike."""
        async with self._engine.connect() as connection:
            record = await RecordStore(connection).load_readable(record_id, principals_of(identity))
        if record is None:
            raise RecordNotFoundError
        return record
