"""An organization's rules for calling: to be read by all who see it, changed by some."""

from collections.abc import Sequence
from uuid import UUID

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.portal.organizations.settings_forms import USUAL_REGIONS, SettingsForm
from app.portal.organizations.views import about, region_names
from app.portal.web.blueprint import portal
from app.portal.web.editing import Overtaken, overtaken, seen_version
from app.portal.web.form_problems import place_problems
from app.services import organizations

Page = str | tuple[str, int] | Response

GROUP_NAMES = {
    "hours": "calling hours",
    "regions": "regions",
    "pace": "pace",
    "retries": "retries",
    "do_not_call": "do-not-call rule",
    "consent": "consent",
}


@portal.get("/organizations/<uuid:organization_id>/settings")
def organization_settings(organization_id: UUID) -> Page:
    return _page(organization_id, None)


@portal.post("/organizations/<uuid:organization_id>/settings")
def organization_settings_save(organization_id: UUID) -> Page:
    form = SettingsForm(request.form)
    if not form.validate():
        _check_the_rest(organization_id, form)
        return _page(organization_id, form), 422
    try:
        with transaction() as session:
            changed = organizations.change_settings(
                session,
                caller(),
                organization_id,
                form.to_rules(),
                most_at_once=settings().calls_per_organization,
                expected_version=seen_version(),
            )
    except ValidationFailed as error:
        return _page(organization_id, form, place_problems(form, error)), 422
    except Conflict as error:
        return _page(organization_id, form, conflict=error), 409
    names = ", ".join(GROUP_NAMES[group] for group in changed)
    flash(f"Settings saved: {names}." if changed else "Nothing was changed.", "success")
    return redirect(url_for("portal.organization_settings", organization_id=organization_id), 303)


def _check_the_rest(organization_id: UUID, form: SettingsForm) -> None:
    """What the service would refuse beside what could not be read, so that all is said at once."""
    with transaction(read_only=True) as session:
        stored = organizations.rules_of(organizations.get(session, caller(), organization_id))
    try:
        rules = form.readable(stored)
        organizations.check_rules(rules, stored, settings().calls_per_organization)
    except ValidationFailed as error:
        place_problems(form, error)


def _page(
    organization_id: UUID,
    form: SettingsForm | None,
    problems: Sequence[tuple[str, str]] = (),
    *,
    conflict: Conflict | None = None,
) -> str:
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        rules = organizations.rules_of(found)
        said: Overtaken | None = None
        if conflict is not None and form is not None:
            said = overtaken(
                session,
                conflict,
                form,
                SettingsForm.showing(rules),
                target_type="organization",
                target_id=organization_id,
            )
        shown = form or SettingsForm.showing(rules)
        return render_template(
            "portal/organizations/settings.html",
            **about(session, found, "portal.organization_settings"),
            form=shown,
            rules=rules,
            problems=problems,
            overtaken=said,
            version=found.version,
            changes=organizations.last_changes(session, found),
            usual=set(USUAL_REGIONS) | set(shown.allowed_regions.data or ()),
            region_names=region_names,
            most_at_once=settings().calls_per_organization,
            plan=found.plan_limit,
            carrier_pace=settings().carrier_calls_per_second,
        )
