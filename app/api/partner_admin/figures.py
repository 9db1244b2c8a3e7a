"""The admin report, and subscription and usage under /api/users."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import orjson
from flask import Response, g
from sqlalchemy.orm import Session

from app.api.operation import operation
from app.api.partner_admin.blueprint import blueprint
from app.api.partner_admin.partners import NO_PARTNER
from app.api.partner_admin.users import OPERATOR
from app.extensions import caller, database, figures, transaction
from app.models import utcnow
from app.schemas.figures import (
    PartnerAdminReport,
    SubscriptionInfo,
    SubscriptionQuery,
    UsageInfo,
    UsageQuery,
)
from app.services import audit, reporting

NO_USER = {
    "user_not_found": "The partner has no such user.",
    "no_organization": "The user has no organization.",
}
NOTHING_SELECTED = {
    **NO_USER,
    "organization_not_found": "The partner has no such organization.",
}
DISAGREE = {"selectors_disagree": "The user does not belong to the organization."}


MAX_WRITE_TIME = timedelta(seconds=60)
"""Seconds in which a change appears: it is noted in its transaction, and a web process ends a
request after this time."""


@contextmanager
def _figures() -> Iterator[Session]:
    """As `figures`, including all changes of the partner: scripts don't remember positions of the
    log."""
    if replica := database().replica:
        since = utcnow() - timedelta(seconds=replica.max_seconds) - MAX_WRITE_TIME
        partner_id = caller().partner_id
        with transaction(read_only=True) as session:
            changed = audit.last_change_at(session, partner_id) if partner_id else utcnow()
        if changed and changed > since:
            g.wrote_at = replica.position()
    with figures() as session:
        yield session


@blueprint.get("/partners/<partner_id>/admin-report")
@operation(summary="Report of a partner", output=PartnerAdminReport, errors={404: NO_PARTNER})
def admin_report(partner_id: UUID) -> Response:
    """Every standard user over all time, each with the completed conversations of their
    organization: calls that were answered, by a person or by voicemail."""
    with _figures() as session:
        report = reporting.report(session, caller(), partner_id)
        # Written while it is read, so that only its bytes are kept, not its rows.
        users = [orjson.dumps(batch)[1:-1] for batch in report.batches()]
    counts = {"userCount": report.user_count, "userCountByTier": report.user_count_by_tier}
    body = [orjson.dumps(counts)[:-1], b',"users":[']
    for chunk in users:
        body += [chunk, b","]
    return Response([*body[: -1 if users else None], b"]}"], mimetype="application/json")


@blueprint.get("/users/subscription")
@operation(
    summary="Plan of an organization",
    output=SubscriptionInfo,
    query=SubscriptionQuery,
    errors={400: DISAGREE | OPERATOR, 404: NOTHING_SELECTED},
)
def find_subscription(query: SubscriptionQuery) -> SubscriptionInfo:
    """Send `organizationId`, `userEmail` or both; both must name the same organization."""
    with transaction(read_only=True) as session:
        return reporting.subscription(session, caller(), query)


@blueprint.get("/users/<external_user_id>/subscription")
@operation(
    summary="Plan of a user's organization",
    output=SubscriptionInfo,
    errors={400: OPERATOR, 404: NO_USER},
)
def get_user_subscription(external_user_id: str) -> SubscriptionInfo:
    """`externalUserId` is the user's `idpUid`, else the `id`."""
    with transaction(read_only=True) as session:
        return reporting.subscription_of_user(session, caller(), external_user_id)


@blueprint.get("/users/usage")
@operation(
    summary="Usage of an organization",
    output=UsageInfo,
    query=UsageQuery,
    errors={400: DISAGREE | OPERATOR, 404: NOTHING_SELECTED},
)
def find_usage(query: UsageQuery) -> UsageInfo:
    """Send `organizationId`, `userEmail` or both. Days are UTC and both ends count; at most 366.
    `conversations` are completed ones, counted on the day on which they began."""
    with _figures() as session:
        return reporting.usage(session, caller(), query)
