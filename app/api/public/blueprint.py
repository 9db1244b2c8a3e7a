"""The area's blueprint: who asks is said by the header x-api-key."""

from flask import Request, Response, g
from sqlalchemy.orm import Session

from app.api.operation import area_blueprint
from app.caller import Caller
from app.enums import Area
from app.extensions import transaction
from app.request_id import request_id
from app.services import api_keys, last_used


def _authenticate(session: Session, asked: Request) -> Caller:
    return api_keys.caller_from_key(
        session,
        asked.headers.get("x-api-key"),
        ip=asked.remote_addr,
        request_id=request_id(),
    )


blueprint = area_blueprint("public", Area.PUBLIC, _authenticate, "/api/v1")


@blueprint.after_request
def _note_the_use(response: Response) -> Response:
    """Once a minute for each key, in a transaction of its own after the request."""
    caller: Caller | None = g.get("caller")
    if caller is not None and last_used.due(caller):
        with transaction() as session:
            last_used.touch(session, caller)
    return response
