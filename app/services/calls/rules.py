"""What stops a call: the same rules at acceptance, in the pre-flight list and at dial time.

Each rule looks at one thing and returns a `Blocker` or None.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CallSource, CampaignStatus, EndedReason, OrganizationStatus
from app.errors import Conflict, DomainError, Forbidden, ValidationFailed
from app.models import (
    Agent,
    Call,
    CallAttempt,
    Campaign,
    Contact,
    DoNotCallEntry,
    Organization,
    Partner,
    utcnow,
)
from app.phone import PhoneError, check_dialable, within_calling_hours

ENDED_CONTACT_STATUSES = frozenset({"completed", "disqualified"})
PHONE_FIELD = "contact.phoneNumber"
_NEVER_RANG = (EndedReason.CARRIER_ERROR, EndedReason.REJECTED, EndedReason.NUMBER_INVALID)


@dataclass(frozen=True, slots=True)
class Parties:
    """Whom the rules look at."""

    organization: Organization
    agent: Agent
    partner_suspended_at: datetime | None
    on_do_not_call_list: bool


def parties_of(
    session: Session, agent_id: UUID, phone_number: str, *, lock: bool = False
) -> Parties:
    """The parties as they are now. With ``lock``, whoever else asks for the organization's waits
    until this transaction ends, so that its cap on calls at once holds."""
    listed = (
        select(DoNotCallEntry.phone)
        .where(
            DoNotCallEntry.organization_id == Organization.id,
            DoNotCallEntry.phone == phone_number,
        )
        .exists()
    )
    query = (
        select(Organization, Agent, Partner.suspended_at, listed)
        .join(Agent, Agent.organization_id == Organization.id)
        .join(Partner, Partner.id == Organization.partner_id)
        .where(Agent.id == agent_id)
    )
    if lock:
        query = query.with_for_update(of=Organization, key_share=True)
    return Parties(*session.execute(query, execution_options={"populate_existing": True}).one())


@dataclass(frozen=True, slots=True)
class Blocker:
    """Why a call may not be placed; ``reason`` is what a call that waited ends with."""

    code: str
    message: str
    reason: EndedReason
    kind: type[DomainError]

    def error(self) -> DomainError:
        if issubclass(self.kind, ValidationFailed):
            return ValidationFailed.on(PHONE_FIELD, self.code, self.message)
        return self.kind(self.message, self.code)


def organization_may_call(parties: Parties) -> Blocker | None:
    active = parties.organization.status is OrganizationStatus.ACTIVE
    if active and parties.partner_suspended_at is None:
        return None
    message = "The organization is suspended: it places no calls."
    return Blocker("organization_suspended", message, EndedReason.ORGANIZATION_SUSPENDED, Forbidden)


def agent_is_active(agent: Agent) -> Blocker | None:
    if agent.active:
        return None
    message = "The assistant is switched off."
    return Blocker("agent_inactive", message, EndedReason.AGENT_INACTIVE, Conflict)


def phone_is_ready(agent: Agent) -> Blocker | None:
    if agent.phone_ready:
        return None
    message = "The assistant's phone is not switched on and configured with a number."
    return Blocker("agent_phone_not_ready", message, EndedReason.AGENT_INACTIVE, Conflict)


def standing_blocker(parties: Parties) -> Blocker | None:
    """What keeps the assistant from calling anybody at all."""
    return (
        organization_may_call(parties)
        or agent_is_active(parties.agent)
        or phone_is_ready(parties.agent)
    )


def number_is_allowed(phone_number: str, organization: Organization) -> Blocker | None:
    try:
        check_dialable(phone_number, organization.allowed_regions)
    except PhoneError as error:
        return Blocker(
            "number_not_allowed",
            error.message,
            EndedReason.REGION_NOT_ALLOWED,
            ValidationFailed,
        )
    return None


def an_hour_suits(phone_number: str, organization: Organization) -> Blocker | None:
    if not organization.calling_hours_on or _opening(phone_number, organization, utcnow()):
        return None
    message = "No calling hour suits all the places where this number may ring."
    return Blocker("number_not_allowed", message, EndedReason.REGION_NOT_ALLOWED, ValidationFailed)


def may_be_contacted(parties: Parties) -> Blocker | None:
    if not parties.on_do_not_call_list:
        return None
    message = "The number is on the organization's do-not-call list."
    return Blocker("do_not_contact", message, EndedReason.DO_NOT_CONTACT, Conflict)


def outreach_goes_on(session: Session, call: Call) -> Blocker | None:
    """A campaign call needs its campaign to run, and its contact with a status that doesn't end
    outreach."""
    if call.source is not CallSource.CAMPAIGN:
        return None
    campaign = session.get(Campaign, call.campaign_id, populate_existing=True)
    if campaign is None or campaign.status is not CampaignStatus.ACTIVE:
        message = "The campaign was stopped before the call was placed."
        return Blocker("campaign_stopped", message, EndedReason.CANCELED, Conflict)
    contact = session.get(Contact, call.contact_id) if call.contact_id else None
    if contact is not None and not ends_outreach(contact.status):
        return None
    message = "Outreach to the contact has ended."
    return Blocker("contact_ended", message, EndedReason.CONTACT_ENDED, Conflict)


def ends_outreach(status: str | None) -> bool:
    """Whether a contact's status stops campaign calls (decisions, section 6)."""
    return (status or "").strip().casefold() in ENDED_CONTACT_STATUSES


def blockers(parties: Parties, phone_number: str) -> Iterator[Blocker]:
    """Every rule that a call of this assistant to this number breaks now, in the order in which
    they are said."""
    for blocker in (
        organization_may_call(parties),
        agent_is_active(parties.agent),
        phone_is_ready(parties.agent),
        number_is_allowed(phone_number, parties.organization),
        an_hour_suits(phone_number, parties.organization),
        may_be_contacted(parties),
    ):
        if blocker is not None:
            yield blocker


def next_moment(
    session: Session, phone_number: str, organization: Organization, now: datetime, *, live: bool
) -> datetime | None:
    """When the organization's hours, daily limit and spacing next allow the call; None for now."""
    at = now
    if live:
        at = day_used_up(session, organization, now) or at
    if live:
        at = max(at, _rung_last(session, phone_number, organization) or at)
    if organization.calling_hours_on:
        at = _opening(phone_number, organization, at) or at
    return at if at > now else None


def _opening(phone_number: str, organization: Organization, at: datetime) -> datetime | None:
    start, end = organization.calling_hours_start, organization.calling_hours_end
    if start >= end:
        return None
    return within_calling_hours(phone_number, start, end, at)[1]


def _rung_last(session: Session, phone_number: str, organization: Organization) -> datetime | None:
    """When the number has rested for as long as the organization wants; None where it never rang
    or there is nothing to keep to."""
    if organization.number_spacing_minutes is None:
        return None
    rang = CallAttempt.ended_reason.is_(None) | CallAttempt.ended_reason.not_in(_NEVER_RANG)
    last = session.scalar(
        select(func.max(CallAttempt.started_at))
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            Call.organization_id == organization.id,
            Call.phone_number == phone_number,
            Call.live.is_(True),
            rang,
        )
    )
    spacing = timedelta(minutes=organization.number_spacing_minutes)
    return last + spacing if last is not None else None


def day_used_up(session: Session, organization: Organization, now: datetime) -> datetime | None:
    """When the next day begins, where the organization has made all its calls of this one."""
    if organization.max_calls_a_day is None:
        return None
    midnight = datetime.combine(now.date(), datetime.min.time(), UTC)
    today = (
        select(func.count())
        .select_from(CallAttempt)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            CallAttempt.organization_id == organization.id,
            CallAttempt.started_at >= midnight,
            Call.live.is_(True),
        )
    )
    is_used_up = (session.scalar(today) or 0) >= organization.max_calls_a_day
    return midnight + timedelta(days=1) if is_used_up else None
