"""The operator's extensions of the legacy API: give, change and end a client's."""

from datetime import timedelta
from uuid import UUID

from flask import url_for

from app.errors import NotFound
from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.models import utcnow
from app.portal.legacy_migration import blueprint
from app.portal.legacy_migration.forms import ExtensionForm
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import last_day
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.portal.web.user_timezone import zone
from app.services.legacy import extensions
from app.services.legacy import migration as legacy_migration
from app.services.legacy.migration import DAYS_SHOWN, MigratingClient


@blueprint.get("/api-access/migration/<uuid:client_id>/extension")
def confirm_extend_legacy_access(client_id: UUID) -> Page:
    migrating = _get_extendable(client_id)
    until = migrating.client.served_until if migrating.is_extended else None
    last_day_value = (until - timedelta(microseconds=1)).date().isoformat() if until else ""
    return _extension_page(migrating, ExtensionForm.from_object(last_day=last_day_value))


@blueprint.post("/api-access/migration/<uuid:client_id>/extension")
def extend_legacy_access(client_id: UUID) -> Page:
    form = ExtensionForm()
    migrating = _get_extendable(client_id)
    with saving(form, lambda: _extension_page(migrating, form)) as session:
        client = extensions.extend(session, caller(), client_id, form.until)
    day = last_day(form.until, "UTC")
    message = gettext(
        "The legacy API serves “%(name)s” through %(day)s.", name=client.name, day=day
    )
    return redirect_with(
        message, url_for("portal.legacy_migration.show_client_migration", client_id=client_id)
    )


@blueprint.get("/api-access/migration/<uuid:client_id>/extension/end")
def confirm_end_extension(client_id: UUID) -> Page:
    return _end_confirmation(_get_extendable(client_id)).page()


def _end_confirmation(migrating: MigratingClient) -> ConfirmationPage:
    retirement = settings().legacy_retirement
    day = last_day(retirement, "UTC")
    return ConfirmationPage(
        action=url_for("portal.legacy_migration.end_extension", client_id=migrating.client.id),
        title=gettext("End the extension of “%(name)s”?", name=migrating.client.name),
        consequences=[
            _requests_label(migrating),
            gettext("The legacy API refuses its requests immediately.")
            if retirement <= utcnow()
            else gettext("It is served through %(day)s (UTC), as every client.", day=day),
            gettext("You can give it an extension again at any time."),
        ],
        action_label=gettext("End extension"),
        keep_label=gettext("Keep extension"),
        keep_url=url_for(
            "portal.legacy_migration.show_client_migration", client_id=migrating.client.id
        ),
    )


@blueprint.post("/api-access/migration/<uuid:client_id>/extension/end")
def end_extension(client_id: UUID) -> Page:
    _get_extendable(client_id)
    with transaction() as session:
        client = extensions.extend(session, caller(), client_id, None)
    message = gettext("The extension of “%(name)s” has ended.", name=client.name)
    return redirect_with(
        message, url_for("portal.legacy_migration.show_client_migration", client_id=client_id)
    )


def _get_extendable(client_id: UUID) -> MigratingClient:
    """Return a client that may get an extension. Raises `NotFound`, also for a revoked client."""
    with transaction(read_only=True) as session:
        migrating = legacy_migration.get(session, caller(), client_id)
    if migrating.client.revoked_at is not None:
        raise NotFound
    return migrating


def _extension_page(migrating: MigratingClient, form: ExtensionForm) -> str:
    client = migrating.client
    consequences = [
        _requests_label(migrating),
        gettext("The legacy API serves it through the day that you choose, and then refuses it."),
        gettext("The partner’s administrators see the end on the page Migration."),
    ]
    if client.expires_at is not None:
        day = last_day(client.expires_at, zone())
        consequences.append(
            gettext("Its secret works through %(day)s; an extension doesn’t change that.", day=day)
        )
    return ConfirmationPage(
        action=url_for("portal.legacy_migration.extend_legacy_access", client_id=client.id),
        title=gettext("Change the extension of “%(name)s”?", name=client.name)
        if migrating.is_extended
        else gettext("Give “%(name)s” an extension?", name=client.name),
        consequences=consequences,
        action_label=gettext("Save extension"),
        keep_label=gettext("Cancel"),
        keep_url=url_for("portal.legacy_migration.show_client_migration", client_id=client.id),
        danger=False,
    ).page(form.last_day)


def _requests_label(migrating: MigratingClient) -> str:
    count = migrating.accepted + migrating.refused
    if not count:
        return gettext("No requests in the last %(days)s days.", days=DAYS_SHOWN)
    return ngettext(
        "%(num)s request in the last %(days)s days.",
        "%(num)s requests in the last %(days)s days.",
        count,
        days=DAYS_SHOWN,
    )
