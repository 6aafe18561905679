"""What can go wrong in the store. The class alone decides the HTTP status or the exit of a command."""

from shared.errors import ClientError, TransientError


class StoreUnavailableError(TransientError):
    """The database or the embedder did not answer. Never to be reported as an empty result."""

    code = "store_unavailable"
    title = "The knowledge store cannot answer now"


class UnauthorisedError(ClientError):
    code = "unauthorised"
    title = "A valid service token is needed"
    status = 401


class RecordNotFoundError(ClientError):
    """No such record, or none that this identity may read: the two are not told apart."""

    code = "record_not_found"
    title = "There is no such record"
    status = 404


class InvalidRequestError(ClientError):
    code = "invalid_request"
    title = "The request is not valid"
    status = 422


class BookmarkLostError(Exception):
    """The front no longer knows the access signal that the bookmark names."""


class RequestTooLargeError(ClientError):
    code = "request_too_large"
    title = "The request is too large"
    status = 413


class IngestError(ClientError):
    """The ingest as a whole cannot run; single files that cannot be read are reported instead."""

    code = "ingest_refused"
    title = "The folder cannot be ingested"


class FolderNotFoundError(IngestError):
    def __init__(self, folder: str) -> None:
        super().__init__(f"{folder} is not a folder that can be read")


class FolderEmptiedError(IngestError):
    def __init__(self, folder: str, documents: int) -> None:
        super().__init__(
            f"{folder} holds no document any more, and the store holds {documents} from it; if they should all be "
            "removed, say so with --allow-empty"
        )


class IngestAlreadyRunningError(IngestError):
    def __init__(self) -> None:
        super().__init__("another ingest into this knowledge store is running; wait for it to end and start again")


class CollectionTakenError(IngestError):
    def __init__(self, collection: str, known_root: str, folder: str) -> None:
        super().__init__(
            f"the collection {collection!r} holds the folder {known_root}, which still exists; "
            f"give {folder} another collection name"
        )


class InvalidCollectionError(IngestError):
    def __init__(self, collection: str) -> None:
        super().__init__(
            f"{collection!r} is not a collection name: it must not be empty, start with a dot or hold / or #"
        )


class UnreadableFileError(Exception):
    """This file cannot be read; `reason` is a sentence for the person who owns it."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class InvalidAccessError(UnreadableFileError):
    """A rights declaration that cannot be understood. Whatever it governs is closed to everybody."""
