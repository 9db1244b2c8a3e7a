"""An organization's calling rules: visible to everyone who sees the organization, changed by
some."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext
from app.portal.organizations import blueprint
from app.portal.organizations.limit_labels import pace_message, rules_in_groups
from app.portal.organizations.settings_forms import SettingsForm
from app.portal.organizations.tabs import organization_page_data
from app.portal.web.blueprint import Page
from app.portal.web.formats import night_calls_warning
from app.portal.web.forms import saving_edit, stored_page
from app.portal.web.messages import redirect_saved
from app.portal.web.region_choices import offered_first
from app.services import organizations

GROUP_NAMES = {
    "hours": lazy_gettext("calling hours"),
    "regions": lazy_gettext("regions"),
    "pace": lazy_gettext("pace"),
    "retries": lazy_gettext("retries"),
    "do_not_call": lazy_gettext("do-not-call rule"),
    "consent": lazy_gettext("consent"),
}


@blueprint.get("/organizations/<uuid:organization_id>/settings")
def edit_settings(organization_id: UUID) -> Page:
    return stored_page(organization_id, _page, _stored)


@blueprint.post("/organizations/<uuid:organization_id>/settings")
def save_settings(organization_id: UUID) -> Page:
    form = SettingsForm()
    check = partial(_check_readable, organization_id, form)
    with saving_edit(form, "organization", organization_id, _page, _stored, check=check) as session:
        changed = _save(session, organization_id, form)
    url = url_for("portal.organizations.edit_settings", organization_id=organization_id)
    return redirect_saved(_saved_message(changed), url, changed)


def _save(session: Session, organization_id: UUID, form: SettingsForm) -> Sequence[str]:
    """Return the groups of settings that changed."""
    return organizations.change_settings(
        session,
        caller(),
        organization_id,
        form.to_rules(),
        max_at_once=settings().calls_per_organization,
        expected_version=form.version.data,
    )


def _saved_message(changed: Sequence[str]) -> str:
    names = ", ".join(str(GROUP_NAMES[group]) for group in changed)
    return gettext("Settings saved: %(groups)s.", groups=names)


def _check_readable(organization_id: UUID, form: SettingsForm) -> None:
    """Check the rest of a form with unreadable values. Raises `ValidationFailed`."""
    with transaction(read_only=True) as session:
        organization = organizations.get(session, caller(), organization_id)
        stored = organizations.rules_of(organization)
        openable = organizations.openable_of(session, caller(), organization)
    rules = form.readable(stored)
    organizations.check_rules(rules, stored, openable, settings().calls_per_organization)


def _stored(session: Session, organization_id: UUID) -> SettingsForm:
    organization = organizations.get_with_limits(session, caller(), organization_id)
    return SettingsForm.showing(organizations.rules_of(organization), organization.version)


def _page(organization_id: UUID, form: SettingsForm) -> str:
    with transaction(read_only=True) as session:
        organization = organizations.get_with_limits(session, caller(), organization_id)
        rules = organizations.rules_of(organization)
        openable = organizations.openable_of(session, caller(), organization)
        form.limit_choices(openable, rules)
        selected = set(form.allowed_regions.data or ())
        hours = rules.calling_hours_start, rules.calling_hours_end
        return render_template(
            "portal/organizations/settings.html",
            at_night=night_calls_warning(*hours) if rules.calling_hours_on else None,
            **organization_page_data(session, organization, "portal.organizations.edit_settings"),
            form=form,
            rules=rules,
            rules_in_groups=rules_in_groups(rules),
            changes=organizations.last_changes(session, organization),
            suggested=offered_first(form.allowed_regions.choices, selected),
            closed={region for region in selected if openable.closed_by(region)},
            max_at_once=settings().calls_per_organization,
            pace_message=pace_message(organization.plan_limit, settings().carrier_calls_per_second),
        )
