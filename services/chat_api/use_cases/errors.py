"""What a person can be told about a turn or a conversation before anything is streamed."""

from uuid import UUID

from shared.errors import ClientError, TransientError


class NotFoundError(ClientError):
    """Unknown, or somebody else's: the two are byte-identical."""

    code = "not_found"
    title = "There is no such thing here"
    status = 404


class EmptyMessageError(ClientError):
    code = "empty_message"
    title = "The message is empty"
    status = 422


class MessageTooLargeError(ClientError):
    code = "message_too_large"
    title = "The message is too large for the model's window"
    status = 413


class ModelNotAllowedError(ClientError):
    code = "model_not_allowed"
    title = "This model is not on the list of allowed models"
    status = 422


class TurnRunningError(ClientError):
    """A turn of this conversation, or of this client message, is still running."""

    code = "turn_running"
    title = "An answer is already being written here"
    status = 409

    def __init__(self, message_id: UUID) -> None:
        super().__init__("Wait for the running answer, or stop it.", message_id=str(message_id))


class ConversationContendedError(TransientError):
    code = "conversation_contended"
    title = "Several messages arrive in this conversation at once"
    status = 409


class TooManyTurnsError(TransientError):
    code = "too_many_turns"
    title = "You have asked too much in a short time"
    status = 429


class TooManyStreamsError(TransientError):
    code = "too_many_streams"
    title = "Too many answers are being written for you at once"
    status = 429


class SourceNotCitedError(ClientError):
    code = "not_cited"
    title = "This answer does not cite such a source"
    status = 404


class ReplayRefusedError(ClientError):
    """Sent again it would be lost or overwrite another event, so it stays where it is."""

    code = "replay_refused"
    title = "This event cannot be sent again"
    status = 409


class StorageUnavailableError(TransientError):
    code = "storage_unavailable"
    title = "The database cannot be reached; nothing was changed"


class SettingChangedError(ClientError):
    code = "setting_changed"
    title = "Somebody changed this meanwhile"
    status = 412


class SettingRefusedError(ClientError):
    code = "setting_refused"
    title = "This setting cannot take that value"
    status = 422


class UsageOfOthersError(ClientError):
    """The same for somebody who exists and for somebody who does not."""

    code = "usage_of_others"
    title = "You may see your own usage only"
    status = 403


class ReversedPeriodError(ClientError):
    code = "reversed_period"
    title = "The period ends before it begins"
    status = 422
