"""Destinations that a partner allows its organizations, and the operator's limits."""

from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.portal.destinations import blueprint
from app.portal.destinations.forms import DestinationsForm, PartnerLimitsForm
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving, stored_page_of_own
from app.portal.web.messages import redirect_saved
from app.portal.web.region_choices import offered_first
from app.services import destinations, partners


@blueprint.get("/settings/destinations")
def edit_partner_destinations() -> Page:
    return stored_page_of_own(_page, _stored)


@blueprint.post("/settings/destinations")
def save_partner_destinations() -> Page:
    form, partner_id = DestinationsForm(), partners.own_partner_id(caller())
    target = ("partner", partner_id)
    with saving(form, lambda: _page(form), stored=_stored, target=target) as session:
        choice, version = form.to_choice(), form.version.data
        changed = destinations.change_choice(
            session, caller(), partner_id, choice, expected_version=version
        )
    url = url_for("portal.destinations.edit_partner_destinations")
    return redirect_saved(gettext("Call destinations saved."), url, changed)


def _stored(session: Session) -> DestinationsForm:
    partner_id = partners.own_partner_id(caller())
    return DestinationsForm.showing(destinations.choice_of(session, caller(), partner_id))


def _page(form: DestinationsForm) -> str:
    with transaction(read_only=True) as session:
        partner_id = partners.own_partner_id(caller())
        openable = destinations.openable_by_partner(session, partner_id)
        opened = len(destinations.choice_of(session, caller(), partner_id).regions & openable)
    form.limit_choices(openable)
    return render_template(
        "portal/destinations/edit.html",
        form=form,
        title=gettext("Call destinations"),
        sentence=_opened_message(opened),
        crumbs=[
            (gettext("Settings"), url_for("portal.settings.edit_settings")),
            (gettext("Call destinations"), None),
        ],
        hosts_hint=gettext(
            "One per line, like voice.example.com. *.example.com includes all hosts below it. "
            "Without a host, calls can’t be handed over."
        ),
        closed=form.selected_regions() - openable,
        suggested=offered_first(form.regions.choices, form.selected_regions()),
        partners=None,
    )


def _opened_message(opened: int) -> str:
    if not opened:
        return gettext(
            "Customers can call only their own country. Open more here; each organization then "
            "chooses among them in its settings."
        )
    return ngettext(
        "Customers can call their own country and the %(num)s open country, if their settings "
        "choose it.",
        "Customers can call their own country and those of the %(num)s open countries that their "
        "settings choose.",
        opened,
    )


HOSTS_HINT = lazy_gettext(
    "Hosts that calls may be handed over to, one per line, like voice.example.com. *.example.com "
    "includes all hosts below it. Leave blank to allow any public host; each partner then lists "
    "those it uses."
)

PARTNER_HOSTS_HINT = lazy_gettext(
    "Hosts that calls may be handed over to, one per line, like voice.example.com. *.example.com "
    "includes all hosts below it. Blank: as the installation."
)


@blueprint.get("/operator/destinations")
def edit_installation_destinations() -> Page:
    with transaction(read_only=True) as session:
        form = _stored_limits(session)
    return _limits_page(form)


@blueprint.post("/operator/destinations")
def save_installation_destinations() -> Page:
    return _submit(DestinationsForm(), None)


@blueprint.get("/operator/destinations/<uuid:partner_id>")
def edit_allowed_destinations(partner_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        form = _stored_limits(session, partner_id)
    return _limits_page(form, partner_id)


@blueprint.post("/operator/destinations/<uuid:partner_id>")
def save_allowed_destinations(partner_id: UUID) -> Page:
    return _submit(PartnerLimitsForm(), partner_id)


def _submit(form: DestinationsForm, partner_id: UUID | None) -> Page:
    with saving(
        form,
        lambda: _limits_page(form, partner_id),
        stored=lambda session: _stored_limits(session, partner_id),
        target=("partner", partner_id)
        if partner_id
        else ("installation", destinations.INSTALLATION_ID),
    ) as session:
        changed = destinations.change_limits(
            session,
            caller(),
            form.to_limits(),
            partner_id,
            expected_version=form.version.data,
        )
    message = gettext("Call destinations saved.")
    return redirect_saved(
        message, url_for("portal.destinations.edit_installation_destinations"), changed
    )


def _stored_limits(session: Session, partner_id: UUID | None = None) -> DestinationsForm:
    kind = DestinationsForm if partner_id is None else PartnerLimitsForm
    return kind.showing(destinations.limits_of(session, caller(), partner_id))


def _limits_page(form: DestinationsForm, partner_id: UUID | None = None) -> str:
    sentence = gettext("Countries and hosts that partners may open for their organizations.")
    crumbs: list[tuple[str, str | None]] = []
    partner_rows, title, hosts_hint = None, gettext("Call destinations"), HOSTS_HINT
    with transaction(read_only=True) as session:
        if partner_id is None:
            partner_rows = destinations.opened_by_partners(session, caller())
        else:
            name = partners.get(session, caller(), partner_id).name
            sentence = gettext(
                "Limits for %(partner)s, in addition to those of the installation.", partner=name
            )
            title = gettext("Call destinations of %(name)s", name=name)
            hosts_hint = PARTNER_HOSTS_HINT
            crumbs = [
                (
                    gettext("Call destinations"),
                    url_for("portal.destinations.edit_installation_destinations"),
                ),
                (name, None),
            ]
    return render_template(
        "portal/destinations/edit.html",
        form=form,
        sentence=sentence,
        title=title,
        crumbs=crumbs,
        hosts_hint=hosts_hint,
        closed=frozenset(),
        suggested=offered_first(form.regions.choices, form.selected_regions()),
        partners=partner_rows,
    )
