"""A call that needs an operator: what is known about it, queued again or given its outcome."""

from uuid import UUID

from flask import render_template, url_for
from werkzeug.wrappers import Response

from app.enums import CallStatus
from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext
from app.portal.carriers.labels import STUCK_WORDS
from app.portal.operator.forms import OutcomeForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.messages import redirect_with
from app.services.calls import resolve, stuck


@portal.get("/operator/stuck-calls/<uuid:call_id>")
def operator_stuck_call(call_id: UUID) -> Page:
    return _page(call_id, OutcomeForm())


@portal.post("/operator/stuck-calls/<uuid:call_id>")
def operator_stuck_call_resolve(call_id: UUID) -> Page:
    form = OutcomeForm()
    if not form.validate():
        return _page(call_id, form, 422)
    status = CallStatus(form.outcome.data)
    try:
        with transaction() as session:
            resolve.by_operator(session, caller(), call_id, status, form.reason.data or "")
    except Conflict as error:
        if error.code != "never_dialled":
            return _needs_nothing()
        words = gettext("This call was never placed. Choose “Failed” or “Cancelled”.")
        form.outcome.errors = (words,)
        return _page(call_id, form, 422)
    return redirect_with(gettext("The outcome is saved."), url_for("portal.carrier_status"))


@portal.post("/operator/stuck-calls/<uuid:call_id>/queue")
def operator_stuck_call_queue(call_id: UUID) -> Response:
    try:
        with transaction() as session:
            resolve.queue_again(session, caller(), call_id)
    except Conflict:
        return _needs_nothing()
    return redirect_with(gettext("The call is queued again."), url_for("portal.carrier_status"))


def _page(call_id: UUID, form: OutcomeForm, status: int = 200) -> Page:
    with transaction(read_only=True) as session:
        found = stuck.find(session, call_id)
        if found is None:
            return _needs_nothing()
        word, tone, advice = STUCK_WORDS[found.reason]
        html = render_template(
            "portal/operator/stuck_call.html",
            found=found,
            word=word,
            tone=tone,
            advice=advice,
            may_queue=found.reason is stuck.StuckReason.OVERDUE,
            form=form,
        )
        return html, status


def _needs_nothing() -> Response:
    return redirect_with(
        gettext("This call needs no attention any more. Nothing was changed."),
        url_for("portal.carrier_status"),
        "info",
    )
