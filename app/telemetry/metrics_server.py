"""Answers ``GET /metrics`` on a port of its own, apart from the portal and its access rules."""

import os
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app, multiprocess

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that tells prometheus_client where processes write their metrics."""


class _Quiet(WSGIRequestHandler):
    timeout = 10

    def log_message(self, *_arguments: object) -> None:
        """A scraper comes every few seconds."""


def listen(host: str, port: int) -> socket.socket:
    """Bind the port. Raises `OSError` if it is taken."""
    return socket.create_server((host, port))


def serve(listener: socket.socket, registry: CollectorRegistry) -> None:
    """Answer in a thread of its own. Several processes can share a listener."""
    server = WSGIServer(listener.getsockname()[:2], _Quiet, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.setup_environ()
    server.set_app(make_wsgi_app(registry))
    threading.Thread(target=server.serve_forever, daemon=True).start()


def share_folder() -> Path:
    """Create the folder for the metrics of the processes that this one starts from now on.

    Metrics that are imported later, also here, are written to it.
    """
    memory = "/dev/shm"  # noqa: S108 - mkdtemp makes a folder there that only this account can read
    where = memory if os.access(memory, os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="portal-metrics-", dir=where)
    os.environ[FOLDER] = folder
    return Path(folder)


def remove_folder() -> None:
    if folder := os.environ.pop(FOLDER, None):
        shutil.rmtree(folder, ignore_errors=True)


def of_all_processes() -> CollectorRegistry:
    """Return the metrics in the folder, of processes that live and those that have ended."""
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # without types
    return registry


def forget_process(pid: int) -> None:
    """Remove the gauges of a process that has ended; its counters stay."""
    if os.environ.get(FOLDER):
        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]  # as above
