"""Adding the rows of a call."""

from typing import TypeVar

from sqlalchemy.orm import Session

from app.models import Call, CallRecording, CallTranscript

R = TypeVar("R", CallRecording, CallTranscript)


def add_for(session: Session, row: R, call: Call) -> R:
    """Add the row with the call's tenant and contact."""
    row.partner_id, row.organization_id = call.partner_id, call.organization_id
    row.call_id, row.contact_id = call.id, call.contact_id
    session.add(row)
    return row
