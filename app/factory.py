"""The application: its table of contents."""

from datetime import timedelta
from functools import partial
from threading import Event

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

import app.gateways.carriers.account_check
import app.gateways.outside_recordings
import app.services.imports.preview  # noqa: F401 - pages translate the messages that workers store
from app.api import install_api_extensions, register_api
from app.callbacks import register_callbacks
from app.commands.lazy_group import LazyGroup
from app.config import ROOT, Settings, read_settings
from app.database import Database, make_engine
from app.database.connection_budget import WEB_PROCESS
from app.http import on_demand_tls
from app.http.access_log import PortalApp, log_requests
from app.http.brown_out import shed_load
from app.http.common_time import CommonTime
from app.http.full_disk import refuse_without_space
from app.http.health import blueprint as health
from app.http.host_names import refuse_malformed_hosts
from app.http.page_compression import compress_pages
from app.http.request_id import give_request_ids
from app.http.security_headers import send_security_headers
from app.http.shared_rates import SharedRates
from app.http.static_files import serve_built_assets
from app.policy import unlisted_routes
from app.portal import install_portal_extensions, register_portal
from app.portal.web.errors import answer_with_page
from app.services.auth.password_checks import PasswordChecks


def create_app(settings: Settings | None = None, database: Database | None = None) -> Flask:
    """Return the web application with all its faces.

    Raises `RuntimeError` if a route has no entry in the policy table.
    """
    settings = settings or read_settings()
    app = PortalApp(
        "app",
        template_folder=str(ROOT / "templates"),
        static_folder=str(ROOT / "static"),
        instance_path=str(settings.instance_dir.resolve()),
    )
    log_requests(app)
    install_extensions(app, settings, database or _open_database(settings))
    compress_pages(app)
    give_request_ids(app)
    refuse_malformed_hosts(app, settings.public_url)
    send_security_headers(app)
    refuse_without_space(app)
    shed_load(app, settings.exports_at_once)
    over_https = settings.public_url.startswith("https://")
    serve_built_assets(app, settings.assets_dir, over_https=over_https)
    if settings.env == "production":  # behind one proxy, which sets these headers itself
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1)  # type: ignore[method-assign]  # middleware
    app.register_blueprint(health)
    on_demand_tls.register(app)
    register_api(app, answer_with_page)
    register_callbacks(app)
    register_portal(app)
    app.cli = LazyGroup(app.name, partial(_register_commands, app))

    unlisted = unlisted_routes(rule.endpoint for rule in app.url_map.iter_rules())
    if unlisted:
        message = f"these routes have no entry in app/policy/routes.py: {', '.join(unlisted)}"
        raise RuntimeError(message)
    return app


def _register_commands(app: Flask) -> None:
    from app.cli import register_commands

    register_commands(app)


def _open_database(settings: Settings) -> Database:
    database = Database(make_engine(settings.effective_database_url, pool_size=WEB_PROCESS))
    if settings.replica_database_url and not database.is_sqlite:
        lag = settings.replica_lag_seconds
        database.read_at(settings.replica_url, lag, pool_size=WEB_PROCESS)
    return database


def install_extensions(app: Flask, settings: Settings, database: Database) -> None:
    """Give the application its settings, database and gateways. Tests may pass a database."""
    app.config["SECRET_KEY"] = settings.effective_secret_key
    app.config["PERMANENT_SESSION_LIFETIME"] = timedelta(hours=settings.session_hours)
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    app.extensions["settings"] = settings
    app.extensions["database"] = database
    app.extensions["files"] = None  # opened by the first request, after the fork
    app.extensions["stopping"] = Event()
    app.extensions["password_checks"] = PasswordChecks(
        settings.password_checks, settings.password_checks_waiting
    )
    install_api_extensions(app)
    install_portal_extensions(app)
    rates = {"api": app.extensions["rate_limit"], "pages": app.extensions["page_rate_limit"]}
    app.extensions["shared_rates"] = SharedRates(database, rates)
    app.extensions["common_time"] = CommonTime(database)
