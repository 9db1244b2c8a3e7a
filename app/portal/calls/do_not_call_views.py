"""Adding the number of a call to the do-not-call list of its organization."""

from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import Call, Organization
from app.portal.calls import blueprint
from app.portal.do_not_call.confirmation import DoNotCallReasonForm, added_message, never_calling
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import phone
from app.portal.web.messages import redirect_with
from app.services import calls, do_not_call, organizations


@blueprint.get("/calls/<uuid:call_id>/do-not-call")
def confirm_do_not_call(call_id: UUID) -> str:
    with transaction(read_only=True) as session:
        call = _get_unerased(session, call_id)
        organization = organizations.get(session, caller(), call.organization_id)
        waiting = do_not_call.waiting_calls_to(session, organization.id, [call.phone_number])
        return never_calling_it(call, organization, waiting).page(DoNotCallReasonForm().reason)


@blueprint.post("/calls/<uuid:call_id>/do-not-call")
def add_to_do_not_call(call_id: UUID) -> Response:
    reason = DoNotCallReasonForm().reason.data
    with transaction() as session:
        call = _get_unerased(session, call_id)
        organization_id, number = call.organization_id, call.phone_number
        do_not_call.add(session, caller(), organization_id, number, reason=reason)
    return redirect_with(added_message(number), url_for("portal.calls.show_call", call_id=call_id))


def _get_unerased(session: Session, call_id: UUID) -> Call:
    """Return the call. Raises `NotFound`, also if its number was erased."""
    call = calls.get(session, caller(), call_id)
    if call.is_erased:
        raise NotFound(gettext("The data of this call was erased."), "call_erased")
    return call


def never_calling_it(call: Call, organization: Organization, waiting: int) -> ConfirmationPage:
    return never_calling(
        organization,
        call.phone_number,
        waiting,
        url_for("portal.calls.add_to_do_not_call", call_id=call.id),
        [
            (gettext("Calls"), url_for("portal.calls.list_calls")),
            (phone(call.phone_number), url_for("portal.calls.show_call", call_id=call.id)),
        ],
    )
