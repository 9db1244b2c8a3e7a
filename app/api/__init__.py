"""The JSON API: three areas with one description and one mapping of errors, and SCIM."""

from flask import Flask

from app.api.docs import blueprint as docs
from app.api.errors import PageErrors, register_error_handlers
from app.api.legacy_calls import blueprint as legacy_calls
from app.api.oauth import blueprint as oauth
from app.api.operation import AreaBlueprint
from app.api.partner_admin.blueprint import blueprint as partner_admin
from app.api.public.blueprint import blueprint as public
from app.api.request_log import RequestLog
from app.api.scim import blueprint as scim
from app.config import Settings
from app.http.rate_limit import TokenBuckets

BLUEPRINTS: tuple[AreaBlueprint, ...] = (oauth, partner_admin, public, legacy_calls)
"""The areas' blueprints, in the order in which they are documented. SCIM describes itself."""


def register_api(app: Flask, page_errors: PageErrors | None = None) -> None:
    """Add the JSON areas. ``page_errors`` handles errors outside of them."""
    register_error_handlers(app, page_errors)
    app.register_blueprint(docs)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.register_blueprint(scim)


def install_api_extensions(app: Flask) -> None:
    """Reset what the areas keep between requests."""
    settings: Settings = app.extensions["settings"]
    app.extensions["rate_limit"] = TokenBuckets(settings.rate_per_second, settings.rate_burst)
    app.extensions["request_log"] = RequestLog(app.extensions["database"])
