"""Pauses the calling of an organization whose calls are unusual, and resumes it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.orm import Session

from app.enums import Role, WebhookEvent
from app.errors import Sentence
from app.models import (
    Assistant,
    CallHour,
    DispatchPause,
    MailKind,
    Organization,
    SpendingLimit,
    User,
    utcnow,
)
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import mail_queue, pauses, spending
from app.services.partner_users import active_users
from app.services.pauses import PauseScope
from app.services.tenancy import get_organization
from app.services.unusual_calls.counting import count, hour_of
from app.services.unusual_calls.judging import COUNTRY_CALLS, UnusualCallRules, reason
from app.services.webhooks.publishing import publish

LEFT_ALONE = timedelta(hours=24)
"""Time during which calling isn't paused again after a user has resumed it."""
ACTOR = "Unusual calls"
_UNUSUAL = Sentence.gettext("Unusual calls: %(reason_words)s.")


def check(session: Session, rules: UnusualCallRules, now: datetime) -> list[UUID]:
    """Count the calls of this hour, and pause the organizations whose calls are unusual; return
    them."""
    count(session, now)
    hour = hour_of(now)
    calls: defaultdict[UUID, dict[str, int]] = defaultdict(dict)
    current = select(CallHour).where(CallHour.hour == hour, _is_watched(now))
    for row in session.scalars(current, execution_options={"populate_existing": True}):
        calls[row.organization_id][row.region] = row.calls
    paused = []
    for organization_id, by_region in calls.items():
        if sum(by_region.values()) < COUNTRY_CALLS:
            continue
        query = select(CallHour.hour, CallHour.region, CallHour.calls).where(
            CallHour.organization_id == organization_id, CallHour.hour < hour
        )
        history = [(row[0], row[1], row[2]) for row in session.execute(query)]
        zone = _main_zone(session, organization_id)
        if why := reason(by_region, history, hour, rules, zone):
            _pause_calling(session, session.get_one(Organization, organization_id), why)
            paused.append(organization_id)
    return paused


def resume(session: Session, caller: Caller, organization_id: UUID) -> bool:
    """End the pause of an organization, which is then exempt for a day; return whether there was
    one.

    Raises `Forbidden`, `NotFound`.
    """
    caller.require(Permission.PARTNER_WRITE)
    organization = get_organization(session, caller, organization_id, for_change=True)
    spending.exempt_from_watch(session, organization, utcnow() + LEFT_ALONE)
    return pauses.resume(session, caller, _scope(organization))


def _scope(organization: Organization) -> PauseScope:
    return PauseScope(partner_id=organization.partner_id, organization_id=organization.id)


def _is_watched(now: datetime) -> ColumnElement[bool]:
    """Return the condition that an organization is watched, wasn't resumed today, and isn't
    paused."""
    limit = SpendingLimit
    exempt = exists().where(
        limit.organization_id == CallHour.organization_id,
        limit.api_key_id.is_(None),
        or_(limit.is_watched.is_(False), limit.left_alone_until > now),
    )
    paused = exists().where(DispatchPause.organization_id == CallHour.organization_id)
    return and_(~exempt, ~paused)


def _main_zone(session: Session, organization_id: UUID) -> ZoneInfo:
    """Return the time zone of most of the organization's assistants; UTC if they have none."""
    query = (
        select(Assistant.timezone)
        .where(Assistant.organization_id == organization_id, Assistant.timezone.is_not(None))
        .group_by(Assistant.timezone)
        .order_by(func.count().desc(), Assistant.timezone)
        .limit(1)
    )
    return ZoneInfo(session.scalar(query) or "UTC")


def _pause_calling(session: Session, organization: Organization, why: str) -> None:
    message = _UNUSUAL(reason_words=why)
    pauses.pause(session, system_caller(ACTOR), _scope(organization), message)
    publish(
        session,
        organization.partner_id,
        organization.id,
        WebhookEvent.CALLING_PAUSED,
        lambda: {"organizationId": organization.id, "reason": message},
    )
    for user in _notified_users(session, organization):
        mail_queue.enqueue(
            session,
            MailKind.CALLING_PAUSED,
            partner_id=organization.partner_id,
            user_id=user.id,
            details={
                "organization": organization.name,
                "organizationId": str(organization.id),
                "why": message,
                "mayResume": user.user_type is Role.PARTNER_ADMIN,
            },
        )


def _notified_users(session: Session, organization: Organization) -> Sequence[User]:
    """Return the partner admins and the members of the organization."""
    notified = (User.user_type == Role.PARTNER_ADMIN) | (User.organization_id == organization.id)
    return session.scalars(active_users(organization.partner_id).where(notified)).all()
