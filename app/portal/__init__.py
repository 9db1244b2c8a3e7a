"""The portal's screens, one package per noun.

Each package has a blueprint, to which its modules whose names end in ``views`` add their views.
They are imported and registered here, within the blueprint ``portal``, whose guard protects them
all: the endpoint of `app.portal.users.views.list_users` is ``portal.users.list_users``. The
packages share `web`.
"""

from importlib import import_module
from pkgutil import iter_modules, walk_packages

from flask import Blueprint, Flask
from flask_wtf.csrf import CSRFProtect

from app.config import Settings
from app.http.rate_limit import TokenBuckets
from app.portal.audit import actors as audit_actors
from app.portal.auth import guard, login_manager, password_views
from app.portal.help import context as help_context
from app.portal.operator import views as operator_views
from app.portal.record_lists.writing import write_export
from app.portal.web import (
    assets,
    i18n,
    page_context,
    quick_templates,
    read_your_writes,
    request_rate,
)
from app.portal.web.blueprint import portal

for module in walk_packages(__path__, f"{__name__}."):
    if module.name.endswith("views"):
        import_module(module.name)
for package in iter_modules(__path__, f"{__name__}."):
    blueprint = getattr(import_module(package.name), "blueprint", None)
    if isinstance(blueprint, Blueprint):
        portal.register_blueprint(blueprint)

csrf = CSRFProtect()
read_your_writes.follow(portal)
guard.protect(portal, csrf)  # here, because there is one blueprint for several applications


def register_portal(app: Flask) -> None:
    """Add the screens, their guard and their template functions."""
    app.config.setdefault("WTF_CSRF_CHECK_DEFAULT", False)  # the portal's guard calls it
    # Pages with a token in their URL send no referrer; `Sec-Fetch-Site` provides the same
    # information.
    app.config.setdefault("WTF_CSRF_SSL_STRICT", False)
    # A token expires with the browser's session, not while a form is being filled in.
    app.config.setdefault("WTF_CSRF_TIME_LIMIT", None)
    csrf.init_app(app)
    app.register_blueprint(portal)
    for module in (
        assets,
        audit_actors,
        help_context,
        i18n,
        login_manager,
        operator_views,
        page_context,
        password_views,
        quick_templates,
    ):
        module.register(app)


def install_portal_extensions(app: Flask) -> None:
    """Reset what the screens keep between requests, and register what runs outside of them."""
    settings: Settings = app.extensions["settings"]
    app.extensions["write_export"] = write_export
    app.extensions["page_rate_limit"] = TokenBuckets(
        settings.page_rate_per_second,
        settings.page_rate_burst,
        describe=request_rate.too_many,
    )
