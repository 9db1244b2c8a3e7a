"""Clients of the retired calling API in the demo, with traffic for the migration page."""

import random
from datetime import UTC, datetime, time, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import Tier
from app.errors import Gone
from app.models import Assistant, OAuthClient, Organization, new_id, utcnow
from app.policy.caller import Caller
from app.schemas.fields import write_moment
from app.schemas.legacy import LegacyCallInput
from app.schemas.parsing import read
from app.services import oauth_clients
from app.services.legacy import migration as legacy_migration
from app.services.legacy.calls import ClientTerms
from app.services.legacy.migration import DAYS_SHOWN, ShadowRequest

SATURDAY = 5
OPENING = time(15)
BAD_REQUEST = 400
REFUSED = 0.06
"""Errors in the requests of a served client: a wrong number or message."""


def add_legacy_client(
    session: Session,
    caller: Caller,
    partner_caller: Caller,
    organization: Organization,
    assistant: Assistant,
    *,
    to: tuple[str, str],
    retirement: datetime,
    extended: bool,
    days: int,
) -> dict[str, Any]:
    """Give an organization a legacy client and return the demo's data about it.

    Only one on the Plus plan is served: it gets traffic and is printed.
    """
    until = utcnow().replace(microsecond=0) + timedelta(days=180)
    new = oauth_clients.create_legacy(
        session,
        caller,
        organization_id=organization.id,
        name="Old dialler",
        served_until=until if extended else None,
    )
    if organization.payment_tier is not Tier.PLUS:
        return {}
    end = new.client.served_until
    _add_traffic(
        session,
        partner_caller,
        new.client,
        assistant,
        to=to,
        served_until=max(end or retirement, retirement),
        days=days,
    )
    return {
        "legacyClient": {
            "clientId": new.client.client_id,
            "clientSecret": new.secret,
            "servedUntil": write_moment(end) if end else None,
        }
    }


def _add_traffic(
    session: Session,
    caller: Caller,
    client: OAuthClient,
    assistant: Assistant,
    *,
    to: tuple[str, str],
    served_until: datetime,
    days: int,
) -> None:
    """Add a few requests each working day until yesterday, each answered like the Campaigns API;
    those after ``served_until`` were refused. ``to`` is the name and number in the requests."""
    rng = random.Random(11)  # noqa: S311 - an invented past, the same every time
    name, number = to
    request = read(
        LegacyCallInput,
        {
            "name": name,
            "toPhoneNumber": number,
            "fromPhoneNumber": assistant.phone_number,
            "introNotes": "Asked for a quote through the form on the website.",
            "formInfo": [{"key": "topic", "value": "Quote"}],
        },
    )
    translated = legacy_migration.translate(session, caller, request)
    accepted = legacy_migration.dry_run(session, caller, translated, CallSettings())
    shadow = ShadowRequest(translated, 200, legacy_migration.answer_of(*accepted))
    status, answer = _answer(
        ClientTerms(caller, served_until, Tier.PLUS, is_active=True), accepted[1]
    )
    today = utcnow().date()
    client.created_at = datetime.combine(today - timedelta(days=days), OPENING, UTC)
    for age in range(min(days, DAYS_SHOWN - 1), 0, -1):
        day = today - timedelta(days=age)
        for _ in range(rng.randrange(2, 6) if day.weekday() < SATURDAY else rng.randrange(2)):
            requested_at = datetime.combine(day, OPENING, UTC) + timedelta(
                seconds=rng.randrange(8 * 3600)
            )
            if status < BAD_REQUEST and rng.random() < REFUSED:
                legacy_migration.record_request(
                    session, client.id, BAD_REQUEST, None, None, at=requested_at
                )
            else:
                legacy_migration.record_request(
                    session, client.id, status, answer, shadow, at=requested_at
                )
            client.last_used_at = max(client.last_used_at or requested_at, requested_at)


def _answer(terms: ClientTerms, message: str) -> tuple[int, dict[str, Any]]:
    """Return the Legacy API's answer to a good request under these conditions."""
    try:
        terms.require_service()
    except Gone as error:
        details = {"code": error.code, "errors": []}
        return 410, {"statusCode": 410, "message": error.message, "details": details}
    return 200, {"success": True, "message": message, "callId": str(new_id())}
