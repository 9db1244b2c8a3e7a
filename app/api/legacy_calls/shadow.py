"""Shadow mode: the response that Area C would have given, stored next to the actual one.

Every request with a valid token is counted, also after the end of the area. If its body can be
read, the rules of Area C are applied to it, without placing a call.
"""

import logging

from flask import Response, g, request
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.api.errors import calls_refusal
from app.api.json_body import read_json_body
from app.errors import DomainError
from app.extensions import scope_of, settings, transaction
from app.schemas.legacy import LegacyCallInput
from app.schemas.parsing import read
from app.services.legacy import migration as legacy_migration
from app.services.legacy.migration import ShadowRequest

NOT_READ = frozenset({403, 410})
"""Statuses of requests whose body was not read."""
TOO_MANY = 429

log = logging.getLogger(__name__)


def compute_shadow(session: Session, body: LegacyCallInput) -> None:
    """Compute the response of Area C now, before the call itself changes anything."""
    caller = g.legacy_terms.caller
    translated = legacy_migration.translate(session, caller, body)
    try:
        accepted = legacy_migration.dry_run(session, caller, translated, settings().call_settings)
    except DomainError as error:
        g.legacy_shadow = ShadowRequest(translated, *calls_refusal(error))
        return
    g.legacy_shadow = ShadowRequest(translated, 200, legacy_migration.answer_of(*accepted))


def store_shadow(response: Response) -> Response:
    """Store the response with its shadow. A rate-limited request costs no write."""
    if "legacy_terms" not in g or response.status_code == TOO_MANY:
        return response
    try:
        # A refused client is not the caller of the request, but its token identifies it.
        with transaction(scope=scope_of(g.legacy_terms.caller)) as session:
            if "legacy_shadow" not in g and response.status_code in NOT_READ:
                _compute_unread_shadow(session)
            legacy_migration.record_request(
                session,
                g.legacy_terms.caller.subject_id,
                response.status_code,
                response.get_json(),
                g.get("legacy_shadow"),
            )
    except OperationalError:  # a busy database must not cost the response
        log.warning("A request to the retired API could not be noted.", exc_info=True)
    return response


def _compute_unread_shadow(session: Session) -> None:
    try:
        data = read_json_body(request, settings().max_body_bytes)
        compute_shadow(session, read(LegacyCallInput, data))
    except DomainError:  # what can't be read has no counterpart
        return
