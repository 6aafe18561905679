"""What can go wrong between us and a model, whichever it is."""

from shared.errors import PermanentError, TransientError


class ModelUnavailableError(TransientError):
    """No connection, a time-out or a server-side fault of the provider."""

    code = "model_unavailable"
    title = "The language model cannot be reached"


class ModelBusyError(ModelUnavailableError):
    """The provider takes no more requests for now (429)."""

    code = "model_busy"
    title = "The language model is over its limit of requests"


class ModelRefusedError(PermanentError):
    """The provider refused the call as it is: a wrong key, an unknown model, a malformed request."""

    code = "model_refused"
    title = "The language model refused the call"


class ModelStreamBrokenError(TransientError):
    """The stream ended before the provider said that it was finished, or was not readable."""

    code = "model_stream_broken"
    title = "The language model's answer broke off"


ModelFault = ModelUnavailableError | ModelRefusedError | ModelStreamBrokenError
MODEL_FAULTS = (ModelUnavailableError, ModelRefusedError, ModelStreamBrokenError)


def is_unbilled(fault: ModelFault) -> bool:
    """Whether the provider took nothing on: it was not reached, or said no. A provider that fell silent may bill."""
    return isinstance(fault, ModelUnavailableError | ModelRefusedError) and not isinstance(
        fault.__cause__, TimeoutError
    )
