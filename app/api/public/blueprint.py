"""The area's blueprint: the header x-api-key authenticates."""

from flask import Request
from sqlalchemy.orm import Session

from app.api.operation import area_blueprint
from app.enums import Area
from app.http.request_id import request_id
from app.policy.caller import Caller
from app.services.credentials import api_keys


def _authenticate(session: Session, asked: Request) -> Caller:
    return api_keys.caller_from_key(
        session,
        asked.headers.get("x-api-key"),
        ip=asked.remote_addr,
        request_id=request_id(),
    )


blueprint = area_blueprint(
    "public", Area.PUBLIC, _authenticate, "/api/v1", refuses_unknown_parameters=True
)
