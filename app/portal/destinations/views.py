"""What a partner opens for its organizations, within the operator's limits."""

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.languages import gettext, ngettext
from app.portal.destinations.forms import DestinationsForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_saved
from app.portal.web.region_choices import offered_first
from app.services import destinations, partners


@portal.get("/settings/destinations")
def portal_settings_destinations() -> Page:
    with transaction(read_only=True) as session:
        form = _stored(session)
    return _page(form)


@portal.post("/settings/destinations")
def portal_settings_destinations_save() -> Page:
    form, own = DestinationsForm(), partners.own(caller())
    target = ("partner", own)
    with saving(form, lambda: _page(form), stored=_stored, target=target) as session:
        wanted, version = form.to_choice(), form.version.data
        changed = destinations.change_choice(
            session, caller(), own, wanted, expected_version=version
        )
    url = url_for("portal.portal_settings_destinations")
    return redirect_saved(gettext("Call destinations saved."), url, changed)


def _stored(session: Session) -> DestinationsForm:
    own = partners.own(caller())
    return DestinationsForm.showing(destinations.choice_of(session, caller(), own))


def _page(form: DestinationsForm) -> str:
    with transaction(read_only=True) as session:
        own = partners.own(caller())
        openable = destinations.openable_by_partner(session, own)
        opened = len(destinations.choice_of(session, caller(), own).regions & openable)
    form.offer_only(openable)
    return render_template(
        "portal/destinations/edit.html",
        form=form,
        sentence=_sentence(opened),
        crumbs=[
            (gettext("Settings"), url_for("portal.portal_settings")),
            (gettext("Call destinations"), None),
        ],
        hosts_hint=gettext(
            "One on each line, like voice.example.com; *.example.com stands for all below it. "
            "Without a host, calls can’t be handed over."
        ),
        closed=form.chosen - openable,
        usual=offered_first(form.regions.choices, form.chosen),
        partners=None,
    )


def _sentence(opened: int) -> str:
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
