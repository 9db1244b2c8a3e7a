"""PEOPLE: the portal's screens, one module each."""

from flask import Flask
from flask_wtf.csrf import CSRFProtect

from app.portal import (
    account,
    api_access,
    api_clients,
    assets,
    assistants,
    audit,
    authentication,
    brand_files,
    branding,
    branding_checks,
    branding_pictures,
    branding_preview,
    branding_versions,
    calls,
    campaign_outreach,
    campaigns,
    chat,
    contact_acts,
    contact_file,
    contacts,
    do_not_call,
    editing,
    find,
    formats,
    going_back,
    line_accounts,
    line_health,
    line_trunks,
    migration,
    organization_edit,
    organization_settings,
    organization_standing,
    organizations,
    outbox,
    overview,
    page_context,
    passwords,
    plan_limits,
    portal_settings,
    pricing,
    report,
    sign_in,
    sign_in_again,
    test_call,
    theme,
    upload_files,
    upload_mending,
    upload_steps,
    upload_undo,
    uploads,
    usage,
    user_bulk,
    user_edit,
    user_standing,
    users,
    webhook_acts,
    webhooks,
)
from app.portal.blueprint import portal

csrf = CSRFProtect()
authentication.guard(portal, csrf)  # here: the blueprint is one, applications can be several


def register_portal(app: Flask) -> None:
    """Adds the screens, what guards them, and what their templates use."""
    app.config.setdefault("WTF_CSRF_CHECK_DEFAULT", False)  # the portal's guard calls it
    # Pages with a token in their address send no referrer; `Sec-Fetch-Site` says what it would.
    app.config.setdefault("WTF_CSRF_SSL_STRICT", False)
    # A token belongs to one browser's session and ends with it, not while somebody types.
    app.config.setdefault("WTF_CSRF_TIME_LIMIT", None)
    csrf.init_app(app)
    app.register_blueprint(portal)
    assets.register(app)
    editing.register(app)
    formats.register(app)
    going_back.register(app)
    page_context.register(app)
    passwords.register(app)


__all__ = [
    "account",
    "api_access",
    "api_clients",
    "assistants",
    "audit",
    "brand_files",
    "branding",
    "branding_checks",
    "branding_pictures",
    "branding_preview",
    "branding_versions",
    "calls",
    "campaign_outreach",
    "campaigns",
    "chat",
    "contact_acts",
    "contact_file",
    "contacts",
    "do_not_call",
    "find",
    "line_accounts",
    "line_health",
    "line_trunks",
    "migration",
    "organization_edit",
    "organization_settings",
    "organization_standing",
    "organizations",
    "outbox",
    "overview",
    "passwords",
    "plan_limits",
    "portal_settings",
    "pricing",
    "register_portal",
    "report",
    "sign_in",
    "sign_in_again",
    "test_call",
    "theme",
    "upload_files",
    "upload_mending",
    "upload_steps",
    "upload_undo",
    "uploads",
    "usage",
    "user_bulk",
    "user_edit",
    "user_standing",
    "users",
    "webhook_acts",
    "webhooks",
]
