"""`make play`: build the playground and serve it on this machine only."""

from __future__ import annotations

import os
import signal
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import machine
import ports
from console import apply_all, main, say
from steps import FOR_SITE, WEB


class Handler(SimpleHTTPRequestHandler):
    """Serves files as the playground needs them."""

    # Told here, because the machine's own table may lack them, and a browser refuses modules of another type.
    extensions_map = {  # noqa: RUF012 -- the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def end_headers(self) -> None:
        """Have the browser ask again each time, so that a rebuilt site is seen."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Keep the terminal for the address."""


def play() -> None:
    """Build, then serve until stopped."""
    machine.require_for_lab()
    apply_all(FOR_SITE)
    port = ports.free(8000)
    with ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(WEB / "dist"))) as server:
        say(f"\nThe playground is at\n\n    http://127.0.0.1:{port}/\n")
        say(f'To stop it, press Ctrl-C here or run "kill {os.getpid()}".')
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("Stopped.")


if __name__ == "__main__":
    main(play)
