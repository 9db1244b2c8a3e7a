"""Whether the stored figures agree with the rows that they count."""

from flask import render_template

from app.extensions import caller, transaction
from app.languages import lazy_gettext
from app.portal.web.blueprint import portal
from app.services import figure_check

FIGURE_NAMES = {
    figure_check.CONVERSATIONS: lazy_gettext("Conversations by organization"),
    figure_check.OF_PARTNERS: lazy_gettext("Conversations by partner"),
    figure_check.ENDED_CALLS: lazy_gettext("Ended calls by organization"),
}


@portal.get("/operator/figures")
def operator_figures() -> str:
    with transaction(read_only=True) as session:
        found = figure_check.latest(session, caller())
    return render_template("portal/operator/figures.html", found=found, names=FIGURE_NAMES)
