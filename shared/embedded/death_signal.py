"""Have the kernel end a child when its parent dies, so that a killed supervisor leaves no orphan (Linux)."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def death_signal_setter(number: signal.Signals) -> Callable[[], None] | None:
    """A `preexec_fn` for `subprocess.Popen`; `None` where the system has no such signal.

    The kernel counts the *thread* that forked as the parent: start children from a thread that outlives them.
    """
    if sys.platform != "linux":
        return None
    # Resolved here, in the parent: between fork and exec only plain system calls are safe.
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = (ctypes.c_int, ctypes.c_ulong)
    request, value, parent = _PR_SET_PDEATHSIG, int(number), os.getpid()

    def set_death_signal() -> None:
        prctl(request, value)
        if os.getppid() != parent:  # the parent died before the request was made
            os._exit(1)

    return set_death_signal
