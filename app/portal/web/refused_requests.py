"""Writes that a role does not allow, in the history of the user's partner."""

from flask import g, request

from app.errors import Forbidden
from app.extensions import scope_of, transaction
from app.policy.caller import Caller
from app.portal.web.current_user import known_user
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.validation.networks import network_of


def note_refused_request(error: Forbidden) -> None:
    """Note that the signed-in user tried to change something without the right to."""
    if request.method in ("GET", "HEAD", "OPTIONS") or known_user() is None:
        return
    caller: Caller = g.caller
    if caller.viewed_by is not None:
        return  # the operator's view is in the history; it is no attempt of this user
    endpoint = (request.endpoint or "").removeprefix("portal.")
    refusal = Refusal(
        action=refusals.REQUEST,
        reason=error.code,
        target_type="request",
        target_id=endpoint,
        target=endpoint.replace("_", " "),
        partner_id=caller.partner_id,
        organization_id=caller.organization_id,
        network=network_of(caller.ip),
    )
    with transaction(scope=scope_of(caller)) as session:
        refusals.note(session, caller, [refusal])
