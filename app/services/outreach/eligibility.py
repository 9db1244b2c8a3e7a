"""Whether a contact is called now, later or not in this round, with the reason."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import ends_outreach
from app.models import Contact, DoNotCallEntry, Organization, Outreach
from app.phone import comparable_end, within_calling_hours
from app.services import verified_numbers
from app.services.calls import CallRequest, limits, rules
from app.services.calls.message_templates import fill
from app.services.outreach.plans import CampaignPlan, weekdays_of

NO_PHONE = "no_phone"
NO_HOUR = "no_hour"
PLAN_HOURS = "hours"
LIMITS = "limits"


@dataclass(frozen=True, slots=True)
class WaitingContact:
    """The contact waits for the plan's ``hours``, or for the organization's ``limits``."""

    code: str
    until: datetime


@dataclass(frozen=True, slots=True)
class LeftOutContact:
    """The contact is left out of this round."""

    code: str


@dataclass(frozen=True, slots=True)
class KnownNumbers:
    """The numbers on the do-not-call list, the consent of their contacts
    (`rules.consent_by_phone`), and the verified numbers."""

    on_do_not_call_list: frozenset[str]
    consent: Mapping[str, str]
    verified: frozenset[str] = frozenset()


def decide(
    session: Session,
    contact: Contact,
    outreach: Outreach,
    parties: rules.CallParties,
    now: datetime,
    *,
    numbers: KnownNumbers,
) -> WaitingContact | LeftOutContact | None:
    """Return None for a contact to call now. ``parties`` are the same for all contacts."""
    if (code := exclusion(contact, parties, numbers)) is not None:
        return LeftOutContact(code)
    phone = contact.phone or ""
    is_open, opening = opening_of(phone, outreach, parties.organization, now)
    if opening is None:
        return LeftOutContact(NO_HOUR)
    if not is_open:
        return WaitingContact(PLAN_HOURS, opening)
    wait = limits.find_wait(session, phone, parties.organization, now, live=True)
    return WaitingContact(LIMITS, wait.until) if wait is not None else None


def load_known_numbers(
    session: Session, organization: Organization, phones: Collection[str]
) -> KnownNumbers:
    """Return the organization's data about these numbers, in three queries."""
    listed_phones = select(DoNotCallEntry.phone).where(
        DoNotCallEntry.organization_id == organization.id, DoNotCallEntry.phone.in_(phones)
    )
    consent = rules.consent_by_phone(session, organization.id, phones)
    verified = verified_numbers.verified_among(session, organization.id, phones)
    return KnownNumbers(frozenset(session.scalars(listed_phones)), consent, verified)


def exclusion(contact: Contact, parties: rules.CallParties, numbers: KnownNumbers) -> str | None:
    """Return why a contact is left out at any hour and for any assistant: a code of `rules` or
    `NO_PHONE`."""
    if contact.phone is None:
        return NO_PHONE
    if ends_outreach(contact.status):
        return "contact_ended"
    contact_parties = replace(
        parties,
        on_do_not_call_list=contact.phone in numbers.on_do_not_call_list,
        consent=numbers.consent.get(contact.phone),
        number_is_verified=contact.phone in numbers.verified,
    )
    blocker = next(rules.blockers_of_number(contact_parties, contact.phone), None)
    return blocker.code if blocker is not None else None


def hours_of(outreach: CampaignPlan | Outreach, organization: Organization) -> tuple[time, time]:
    """Return the hours of the plan within those of the organization; a start after the end if they
    have none in common."""
    start, end = outreach.hours_start, comparable_end(outreach.hours_end)
    if organization.calling_hours_on:
        start = max(start, organization.calling_hours_start)
        end = min(end, comparable_end(organization.calling_hours_end))
    return start, end


def opening_of(
    phone: str, outreach: CampaignPlan | Outreach, organization: Organization, at: datetime
) -> tuple[bool, datetime | None]:
    """As `within_calling_hours`, by the plan and by the organization's own hours."""
    start, end = hours_of(outreach, organization)
    if start >= end:
        return False, None
    return within_calling_hours(phone, start, end, at, weekdays_of(outreach))


def request_for(contact: Contact, outreach: Outreach) -> CallRequest:
    """Return the plan's call to one contact."""
    assistant_id: UUID = outreach.assistant_id
    metadata = contact.contact_metadata or {}

    def filled(text: str | None) -> str | None:
        return text and fill(text, contact.first_name, contact.last_name, metadata)

    return CallRequest(
        assistant_id=assistant_id,
        phone_number=contact.phone or "",
        first_name=contact.first_name,
        last_name=contact.last_name,
        email=contact.email,
        metadata=metadata,
        intro_message=filled(outreach.intro_message),
        voicemail_message=filled(outreach.voicemail_message),
        call_instructions=filled(outreach.call_instructions),
    )
