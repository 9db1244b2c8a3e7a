"""The web server. Embedded on SQLite by default, for a buffering proxy on PostgreSQL.

Never bind it beyond loopback: slow requests wait without a thread, but nothing limits how many
requests an IP address sends, or how slowly it reads large files.
"""

from app import gc_tuning  # noqa: F401 # isort: skip - imports are quicker after it

import os
import sys
from typing import Any

from flask import Flask
from gunicorn.arbiter import Arbiter

from app.config import Settings, read_settings
from app.telemetry import shared_folder

if read_settings().metrics_port:
    shared_folder.create()  # before prometheus_client is imported, also by the modules below

from app.database import Database
from app.gateways.files import open_files
from app.http.static_files import publish_assets
from app.portal.web import compiled_templates
from app.start_checks import check, check_files
from app.telemetry import error_reports, metrics_server, tracing
from app.telemetry.metrics import watch_pool

_embedded = not os.environ.get("DATABASE_URL", "").startswith("postgres")

bind = "127.0.0.1:8000"
preload_app = True  # processes share the code's memory, and nothing listens before
worker_class = "supervisor.web_worker.PortalWorker"
workers = int(os.environ.get("PORTAL_WEB_WORKERS") or (1 if _embedded else 2))
threads = int(os.environ.get("PORTAL_WEB_THREADS") or (6 if _embedded else 16))
# Leaves cores and threads to pages during many sign-ins.
_checks = max(1, min((os.cpu_count() or 1) // 2 // workers, threads // 3))
os.environ.setdefault("PORTAL_PASSWORD_CHECKS", str(_checks))
os.environ.setdefault("PORTAL_PASSWORD_CHECKS_WAITING", str(threads // 2))
os.environ.setdefault("PORTAL_EXPORTS_AT_ONCE", str(max(1, threads // 3)))
timeout = 60
graceful_timeout = 20 + read_settings().stop_delay_seconds
keepalive = 5
limit_request_line = 8190
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "")
control_socket_disable = True
loglevel = "warning"
logger_class = "supervisor.web_log.LineLogger"
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - gunicorn makes an unlinked file in it


def on_starting(server: Any) -> None:
    """End with a sentence if something isn't safe in production. Publish the assets of this version
    before it listens, so that processes of other versions have them."""
    settings = read_settings()
    check(settings)
    publish_assets(settings.assets_dir)
    if isinstance(app := server.app.wsgi(), Flask):
        compiled_templates.cache_templates(app, settings.templates_dir)
    if settings.metrics_port:
        metrics_server.listen_for_all(settings.metrics_host, settings.metrics_port)


def post_worker_init(worker: Any) -> None:
    """Start the process's access log, reports, shared rates and shared time."""
    settings, extensions = read_settings(), _extensions(worker)
    if "database" in extensions:
        _check_files(settings, extensions["database"])
    worker.announce_seconds = settings.stop_delay_seconds
    if "stopping" in extensions:
        worker.announce = extensions["stopping"].set
    metrics_server.serve_for_all()
    if settings.otlp_url:
        tracing.start(settings.otlp_url, settings.otlp_share, "web")
    if settings.sentry_dsn:
        error_reports.start(settings.sentry_dsn, settings.env)
    if "database" in extensions:  # here, because the gauges of its pool belong to one process
        watch_pool("web", extensions["database"].engine)
    for name in ("request_log", "shared_rates", "common_time"):
        if name in extensions:
            extensions[name].start()


def _check_files(settings: Settings, database: Database) -> None:
    """End the server, with a sentence, if the file store isn't that of the other hosts. In each
    process: connections to a bucket don't survive a fork."""
    try:
        check_files(settings, database, open_files(settings))
    except SystemExit as refusal:
        print(refusal, file=sys.stderr, flush=True)  # noqa: T201 - the log may not be read yet
        raise SystemExit(Arbiter.WORKER_BOOT_ERROR) from None


def worker_exit(_server: Any, worker: Any) -> None:
    """Write and send what is left."""
    tracing.stop()
    error_reports.stop()
    extensions = _extensions(worker)
    if "request_log" in extensions:
        extensions["request_log"].stop()


def child_exit(_server: Any, worker: Any) -> None:
    """Forget how many connections an ended process had open."""
    metrics_server.forget_process(worker.pid)


def _extensions(worker: Any) -> dict[str, Any]:
    """Return the portal's extensions; empty if the worker died before it loaded the portal."""
    extensions: dict[str, Any] = getattr(worker.wsgi, "extensions", {})
    return extensions
