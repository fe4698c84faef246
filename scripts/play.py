"""`make play`: build the playground and serve it on this machine only."""

from __future__ import annotations

import os
import signal
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import machine
import ports
from console import apply_all, main, say
from steps import FOR_SITE, WEB


class Handler(SimpleHTTPRequestHandler):
    """Serves files with the types and headers that the playground needs."""

    # Set here, because the machine's own table may lack them, and a browser refuses modules of another type.
    extensions_map = {  # noqa: RUF012 -- the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def list_directory(self, path: str | os.PathLike[str]) -> None:  # noqa: ARG002 -- the base class's signature
        """Answer as for a missing page: the site has no listings of folders."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send the site's own error page."""
        page = WEB / "dist" / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        if self.path.strip("/").count("/") > 0:
            # The site's pages are in one folder, and use relative addresses.
            self.send_response(HTTPStatus.FOUND)
            self.send_header("Location", "/404.html")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = page.read_bytes()
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Tell the browser to revalidate every file, because a site can be rebuilt, and to refuse foreign frames."""
        self.send_header("Cache-Control", "no-cache")
        query = parse_qs(urlsplit(getattr(self, "path", "")).query)
        if query.get("embed") != ["1"]:
            self.send_header("Content-Security-Policy", "frame-ancestors 'self'")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Keep the terminal clear for the address."""


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
