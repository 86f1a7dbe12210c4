"""A small web server for one page: on 127.0.0.1 only, read only, in a thread of its own."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from adamb.firmware_model.host.errors import InputError
from adamb.tools.options import bounded

ADDRESS = "127.0.0.1"
HTML, JSON = "text/html; charset=utf-8", "application/json"
REASONS = {errno.EADDRINUSE: "is in use", errno.EACCES: "may not be opened by this user"}

Route = tuple[str, Callable[[], bytes]]
"""The kind of the content, and what makes it."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    routes: Mapping[str, Route]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD of the known paths to a browser that asks for this computer by its own name.

    The last keeps pages of other sites out: a name of theirs may be made to mean 127.0.0.1, but the browser
    still sends that name.
    """

    server: Any

    def do_GET(self) -> None:
        host, port = self.headers.get("Host", ""), self.server.server_address[1]
        if host not in (f"{ADDRESS}:{port}", f"localhost:{port}"):
            return self._refuse(HTTPStatus.FORBIDDEN)
        route = self.server.routes.get(self.path.partition("?")[0])
        if route is None:
            return self._refuse(HTTPStatus.NOT_FOUND)
        kind, make = route
        content = make()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)
        return None

    do_HEAD = do_GET

    def _refuse(self, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """The terminal belongs to the run."""


@contextmanager
def serving(port: int, routes: Mapping[str, Route]) -> Iterator[str]:
    """The address of the page while it is served; an InputError where the port cannot be had."""
    bounded("port", port, 0, 65_535)
    try:
        server = _Server((ADDRESS, port), _Handler)
    except OSError as error:
        reason = REASONS.get(error.errno or 0, error.strerror or str(error))
        raise InputError("port", port, f"{reason} on {ADDRESS}; choose another, or 0 for any") from None
    server.routes = routes
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{ADDRESS}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
