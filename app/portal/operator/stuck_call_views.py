"""A call that needs an operator: the known facts; queueing it again or setting its outcome."""

from functools import partial
from uuid import UUID

from flask import abort, render_template, url_for
from werkzeug.wrappers import Response

from app.enums import CallStatus
from app.errors import Conflict
from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.portal.carriers.labels import STUCK_LABELS
from app.portal.operator import blueprint
from app.portal.operator.forms import OutcomeForm
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.services.calls import resolve, stuck

NEVER_PLACED = lazy_gettext("This call was never placed. Choose “Failed” or “Cancelled”.")


@blueprint.get("/operator/stuck-calls/<uuid:call_id>")
def show_stuck_call(call_id: UUID) -> Page:
    return _page(call_id, OutcomeForm())


@blueprint.post("/operator/stuck-calls/<uuid:call_id>")
def resolve_stuck_call(call_id: UUID) -> Page:
    form = OutcomeForm()
    try:
        with saving(form, partial(_page, call_id, form)) as session:
            status, reason = CallStatus(form.outcome.data), form.reason.data or ""
            resolve.by_operator(session, caller(), call_id, status, reason)
    except Conflict as error:
        return _handle_conflict(call_id, form, error)
    return redirect_with(
        gettext("The outcome is saved."), url_for("portal.carriers.show_carrier_status")
    )


def _handle_conflict(call_id: UUID, form: OutcomeForm, error: Conflict) -> Page:
    if error.code != "never_placed":
        return _redirect_resolved()
    form.outcome.errors = (NEVER_PLACED,)
    return _page(call_id, form), 422


@blueprint.post("/operator/stuck-calls/<uuid:call_id>/queue")
def queue_stuck_call(call_id: UUID) -> Response:
    try:
        with transaction() as session:
            resolve.queue_again(session, caller(), call_id)
    except Conflict:
        return _redirect_resolved()
    return redirect_with(
        gettext("The call is queued again."), url_for("portal.carriers.show_carrier_status")
    )


def _page(call_id: UUID, form: OutcomeForm) -> str:
    with transaction(read_only=True) as session:
        stuck_call = stuck.find(session, call_id)
        if stuck_call is None:
            abort(_redirect_resolved())
        word, tone, advice = STUCK_LABELS[stuck_call.reason]
        return render_template(
            "portal/operator/stuck_call.html",
            call=stuck_call.call,
            partner=stuck_call.partner,
            organization=stuck_call.organization,
            since=stuck_call.since,
            status_label=word,
            tone=tone,
            advice=advice,
            may_queue=stuck_call.reason is stuck.StuckReason.OVERDUE,
            form=form,
        )


def _redirect_resolved() -> Response:
    message = gettext("This call needs no attention any more. Nothing was changed.")
    return redirect_with(message, url_for("portal.carriers.show_carrier_status"), "info")
