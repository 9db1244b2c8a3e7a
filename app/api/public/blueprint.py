"""The area's blueprint: the header x-api-key authenticates."""

from flask import Request
from sqlalchemy.orm import Session

from app.api.operation import area_blueprint
from app.enums import Area
from app.extensions import transaction
from app.http.request_id import request_id
from app.policy.caller import Caller
from app.services.audit import refusals
from app.services.credentials import api_keys


def _authenticate(session: Session, asked: Request) -> Caller:
    return api_keys.caller_from_key(
        session,
        asked.headers.get("x-api-key"),
        ip=asked.remote_addr,
        request_id=request_id(),
    )


def _note_refusal(asked: Request) -> None:
    secret = asked.headers.get("x-api-key")
    with transaction(read_only=True) as session:
        refusal = api_keys.refusal_of_ended_key(session, secret, asked.remote_addr)
    if refusal is not None:
        with transaction() as session:
            refusals.note(session, refusals.anonymous_caller(request_id()), [refusal])


blueprint = area_blueprint(
    "public",
    Area.PUBLIC,
    _authenticate,
    "/api/v1",
    note_refusal=_note_refusal,
    refuses_unknown_parameters=True,
)
