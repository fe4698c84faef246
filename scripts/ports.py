"""A port for a server on this machine."""

from __future__ import annotations

import errno
import socket

from console import StepFailedError

TRIES = 50


def free(first: int) -> int:
    """Return the first unused port from `first` on."""
    for port in range(first, first + TRIES):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
    message = f"Ports {first} to {first + TRIES - 1} are all in use; stop one of their servers, then try again."
    raise StepFailedError(message)
