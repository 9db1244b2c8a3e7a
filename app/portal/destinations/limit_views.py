"""The operator's limits of call destinations: for the installation and for each partner."""

from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.portal.destinations.forms import DestinationsForm, PartnerLimitsForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_saved
from app.portal.web.region_choices import offered_first
from app.services import destinations, partners

HOSTS_HINT = lazy_gettext(
    "Hosts that calls may be handed over to, one on each line, like voice.example.com; "
    "*.example.com stands for all below it. Blank allows any public host; each partner then names "
    "those that it uses."
)


@portal.get("/operator/destinations")
def operator_destinations() -> Page:
    with transaction(read_only=True) as session:
        form = _stored(session)
    return _page(form)


@portal.post("/operator/destinations")
def operator_destinations_save() -> Page:
    return _save(DestinationsForm(), None)


@portal.get("/operator/destinations/<uuid:partner_id>")
def operator_partner_destinations(partner_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        form = _stored(session, partner_id)
    return _page(form, partner_id)


@portal.post("/operator/destinations/<uuid:partner_id>")
def operator_partner_destinations_save(partner_id: UUID) -> Page:
    return _save(PartnerLimitsForm(), partner_id)


def _save(form: DestinationsForm, partner_id: UUID | None) -> Page:
    with saving(
        form,
        lambda: _page(form, partner_id),
        stored=lambda session: _stored(session, partner_id),
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
    words = gettext("Call destinations saved.")
    return redirect_saved(words, url_for("portal.operator_destinations"), changed)


def _stored(session: Session, partner_id: UUID | None = None) -> DestinationsForm:
    kind = DestinationsForm if partner_id is None else PartnerLimitsForm
    return kind.showing(destinations.limits_of(session, caller(), partner_id))


def _page(form: DestinationsForm, partner_id: UUID | None = None) -> str:
    sentence = gettext("Countries and hosts that partners may open for their organizations.")
    crumbs: list[tuple[str, str | None]] = []
    listed = None
    with transaction(read_only=True) as session:
        if partner_id is None:
            listed = destinations.opened_by_partners(session, caller())
        else:
            name = partners.get(session, caller(), partner_id).name
            sentence = gettext(
                "Limits for %(partner)s, beside those of the installation.", partner=name
            )
            crumbs = [
                (gettext("Call destinations"), url_for("portal.operator_destinations")),
                (name, None),
            ]
    return render_template(
        "portal/destinations/edit.html",
        form=form,
        sentence=sentence,
        crumbs=crumbs,
        hosts_hint=HOSTS_HINT,
        closed=frozenset(),
        usual=offered_first(form.regions.choices, form.chosen),
        partners=listed,
    )
