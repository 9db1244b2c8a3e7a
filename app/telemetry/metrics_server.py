"""Answers ``GET /metrics`` on its own port, apart from the portal and its access rules."""

import os
import socket
import threading
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app, multiprocess

from app.telemetry import shared_folder

_shared: list[socket.socket] = []


class _QuietHandler(WSGIRequestHandler):
    timeout = 10

    def log_message(self, *_arguments: object) -> None:
        """Log nothing: a scraper comes every few seconds."""


def listen(host: str, port: int) -> socket.socket:
    """Bind the port. Raises `OSError` if it is taken."""
    return socket.create_server((host, port))


def serve(listener: socket.socket, registry: CollectorRegistry) -> None:
    """Answer in a separate thread. Several processes can share a listener."""
    address = listener.getsockname()[:2]
    server = WSGIServer(address, _QuietHandler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.server_name, server.server_port = address
    server.setup_environ()
    server.set_app(make_wsgi_app(registry))
    threading.Thread(target=server.serve_forever, daemon=True).start()


def listen_for_all(host: str, port: int) -> None:
    """Bind the port on which this process's children answer, each of them for all."""
    if not _shared:
        _shared.append(listen(host, port))


def serve_for_all() -> None:
    """Answer with the metrics of all processes that write to the folder, including ended ones; do
    nothing if no port is bound."""
    for listener in _shared:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # no types
        serve(listener, registry)


def forget_process(pid: int) -> None:
    """Remove the gauges of a process that has ended; its counters stay."""
    if os.environ.get(shared_folder.VARIABLE):
        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]  # as above
