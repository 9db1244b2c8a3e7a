"""The rules that stop calls: the same at acceptance, in the pre-call checks and before placing.

Each rule checks one thing and returns a `CallBlocker` or None.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, exists, func, literal, select
from sqlalchemy.orm import InstrumentedAttribute, Session, joinedload

from app.enums import CallSource, CampaignStatus, EndedReason, OrganizationStatus, ends_outreach
from app.errors import Conflict, DomainError, Forbidden, Sentence, ValidationFailed
from app.languages import gettext
from app.models import (
    Assistant,
    Call,
    Campaign,
    CampaignAssistant,
    Contact,
    DoNotCallEntry,
    InstallationDestinations,
    Organization,
    Partner,
    PartnerDestinations,
    PhoneNumber,
    utcnow,
)
from app.phone import PhoneError, check_dialable
from app.services import phone_numbers, verified_numbers
from app.services.calls.limits import is_plan_over, next_opening, plan_of
from app.services.destinations import CallDestinations, hand_over_refusal, read_destinations
from app.services.phone_numbers import NumberRoute
from app.services.tenancy import no_calls_message

PHONE_FIELD = "contact.phoneNumber"
GIVEN, REFUSED = "given", "refused"
"""A contact's consent to be called; None if it isn't known."""
VOICE_ADDRESS_FAILED = Sentence.gettext(
    "The assistant's voice address can't be used. %(reason_words)s"
)


@dataclass(frozen=True, slots=True)
class CallParties:
    """The data that the rules check. ``caller_id`` is the assistant's number; None if it isn't the
    organization's. ``consent`` is that of the contacts with the called number: `REFUSED` if one of
    them has refused, else `GIVEN` or None."""

    organization: Organization
    assistant: Assistant
    caller_id: PhoneNumber | None
    destinations: CallDestinations
    partner_suspended_at: datetime | None
    partner_trial_ended_at: datetime | None
    on_do_not_call_list: bool
    consent: str | None
    number_is_verified: bool

    @property
    def in_trial(self) -> bool:
        return self.organization.trial_ended_at is None or self.partner_trial_ended_at is None


def _joint_consent() -> ColumnElement[str | None]:
    """Return the joint consent of several contacts: one refusal counts for all of them."""
    return case(
        (_any_consent(REFUSED), literal(REFUSED)), (_any_consent(GIVEN), literal(GIVEN)), else_=None
    )


def _any_consent(consent: str) -> ColumnElement[bool]:
    return func.max(case((Contact.consent == consent, 1), else_=0)) == 1


def _parties_query(phone: ColumnElement[str] | InstrumentedAttribute[str]) -> Select[Any]:
    consent = (
        select(_joint_consent())
        .join(Campaign, Campaign.id == Contact.campaign_id)
        .where(Campaign.organization_id == Organization.id, Contact.phone == phone)
        .correlate(Organization, Call)
    )
    is_listed = exists().where(
        DoNotCallEntry.organization_id == Organization.id, DoNotCallEntry.phone == phone
    )
    return (
        select(
            Organization,
            Assistant,
            PhoneNumber,
            InstallationDestinations,
            PartnerDestinations,
            Partner.suspended_at,
            Partner.trial_ended_at,
            is_listed,
            consent.scalar_subquery(),
            verified_numbers.has_verified(phone),
        )
        .join(Partner, Partner.id == Organization.partner_id)
        .join(Assistant, Assistant.organization_id == Organization.id)
        .outerjoin(
            PhoneNumber,
            and_(
                PhoneNumber.number == Assistant.phone_number,
                PhoneNumber.organization_id == Organization.id,
            ),
        )
        .outerjoin(InstallationDestinations, InstallationDestinations.id == 1)
        .outerjoin(PartnerDestinations, PartnerDestinations.partner_id == Organization.partner_id)
        .options(joinedload(Organization.plan_limit))
        .execution_options(populate_existing=True)
    )


def _read_parties(
    organization: Organization,
    assistant: Assistant,
    caller_id: PhoneNumber | None,
    installation: InstallationDestinations | None,
    partner_destinations: PartnerDestinations | None,
    *more: Any,
) -> CallParties:
    allowed = read_destinations(organization, installation, partner_destinations)
    return CallParties(organization, assistant, caller_id, allowed, *more)


_PARTIES = _parties_query(bindparam("phone_number")).where(
    Assistant.id == bindparam("assistant_id")
)
_PARTIES_LOCKED = _PARTIES.with_for_update(of=Organization, key_share=True)


def parties_of(
    session: Session, assistant_id: UUID, phone_number: str, *, lock: bool = False
) -> CallParties:
    """Return the current parties. With ``lock``, others who lock the same organization wait until
    this transaction ends, so that its limit of calls at once holds."""
    query = _PARTIES_LOCKED if lock else _PARTIES
    params = {"assistant_id": assistant_id, "phone_number": phone_number}
    return _read_parties(*session.execute(query, params).one())


def parties_of_calls(
    session: Session, call_ids: Collection[UUID]
) -> list[tuple[Call, CallParties]]:
    """Return these calls with their current parties."""
    query = (
        _parties_query(Call.phone_number)
        .join(Call, Call.assistant_id == Assistant.id)
        .add_columns(Call)
        .where(Call.id.in_(call_ids))
        .order_by(Call.id)
    )
    return [(call, _read_parties(*parties)) for *parties, call in session.execute(query)]


def consent_by_phone(
    session: Session, organization_id: UUID, phones: Collection[str]
) -> dict[str, str]:
    """Return the consent of the contacts with these numbers: `REFUSED` if one of them has refused,
    else `GIVEN`; numbers without any are left out."""
    query = (
        select(Contact.phone, _joint_consent())
        .join(Campaign, Campaign.id == Contact.campaign_id)
        .where(
            Campaign.organization_id == organization_id,
            Contact.phone.in_(phones),
            Contact.consent.is_not(None),
        )
        .group_by(Contact.phone)
    )
    return {phone: consent for phone, consent in session.execute(query) if phone and consent}


@dataclass(frozen=True, slots=True)
class CallBlocker:
    """Why a call may not be placed; ``reason`` is the reason with which a waiting call ends."""

    code: str
    message: str
    reason: EndedReason
    kind: type[DomainError]

    def error(self) -> DomainError:
        if issubclass(self.kind, ValidationFailed):
            return ValidationFailed.on(PHONE_FIELD, self.code, self.message)
        return self.kind(self.message, self.code)


def organization_blocker(parties: CallParties) -> CallBlocker | None:
    is_active = parties.organization.status is OrganizationStatus.ACTIVE
    if is_active and parties.partner_suspended_at is None:
        return None
    return CallBlocker(
        "organization_suspended", no_calls_message(), EndedReason.ORGANIZATION_SUSPENDED, Forbidden
    )


def inactive_assistant_blocker(assistant: Assistant) -> CallBlocker | None:
    if assistant.active:
        return None
    message = gettext("The assistant is switched off.")
    return CallBlocker("agent_inactive", message, EndedReason.ASSISTANT_INACTIVE, Conflict)


def unready_phone_blocker(assistant: Assistant) -> CallBlocker | None:
    if assistant.phone_ready:
        return None
    message = gettext("The assistant's phone is not switched on and configured with a number.")
    return CallBlocker("agent_phone_not_ready", message, EndedReason.ASSISTANT_INACTIVE, Conflict)


def caller_id_blocker(parties: CallParties, route: NumberRoute) -> CallBlocker | None:
    """Return why the call can't come from the assistant's number: it isn't the organization's, or
    not confirmed for the carrier."""
    refusal = phone_numbers.refusal(parties.caller_id, route)
    if refusal is None:
        return None
    return CallBlocker("agent_phone_not_ready", refusal, EndedReason.ASSISTANT_INACTIVE, Conflict)


def hand_over_blocker(parties: CallParties) -> CallBlocker | None:
    address = parties.assistant.voice_address
    refusal = hand_over_refusal(address, parties.destinations) if address else None
    if refusal is None:
        return None
    message = VOICE_ADDRESS_FAILED(reason_words=refusal)
    return CallBlocker("agent_phone_not_ready", message, EndedReason.ASSISTANT_INACTIVE, Conflict)


def number_blocker(phone_number: str, destinations: CallDestinations) -> CallBlocker | None:
    try:
        check_dialable(phone_number, destinations.regions)
    except PhoneError as error:
        if error.code == "area_code_missing":
            reason = EndedReason.NUMBER_INVALID
            return CallBlocker("invalid_phone", error.message, reason, ValidationFailed)
        reason = EndedReason.REGION_NOT_ALLOWED
        return CallBlocker("number_not_allowed", error.message, reason, ValidationFailed)
    return None


def unverified_number_blocker(parties: CallParties) -> CallBlocker | None:
    if not parties.in_trial or parties.number_is_verified:
        return None
    message = gettext(
        "In trial mode only verified numbers can be called. Verify this number first."
    )
    return trial_blocker(message)


def trial_blocker(message: str) -> CallBlocker:
    return CallBlocker("trial_mode", message, EndedReason.TRIAL_MODE, Forbidden)


def is_bound_by_trial(source: CallSource, *, live: bool) -> bool:
    """Whether trial mode can stop such a call. Calls of test keys reach no one, and verification
    calls are how numbers are verified."""
    return live and source is not CallSource.VERIFICATION


def calling_hours_blocker(phone_number: str, organization: Organization) -> CallBlocker | None:
    if not organization.calling_hours_on or next_opening(phone_number, organization, utcnow()):
        return None
    return _no_hours_blocker()


def _no_hours_blocker() -> CallBlocker:
    message = gettext("No calling hours fit all time zones of this number.")
    return CallBlocker(
        "number_not_allowed", message, EndedReason.REGION_NOT_ALLOWED, ValidationFailed
    )


def do_not_call_blocker(parties: CallParties) -> CallBlocker | None:
    if not parties.on_do_not_call_list:
        return None
    message = gettext("The number is on the organization's do-not-call list.")
    return CallBlocker("do_not_contact", message, EndedReason.DO_NOT_CONTACT, Conflict)


def refusal_blocker(parties: CallParties) -> CallBlocker | None:
    """A person who refused is never called, whether or not the organization requires consent."""
    if parties.consent != REFUSED:
        return None
    message = gettext("A contact with this number has asked not to be called.")
    return CallBlocker("do_not_contact", message, EndedReason.DO_NOT_CONTACT, Conflict)


def consent_blocker(parties: CallParties) -> CallBlocker | None:
    if parties.consent == GIVEN or not parties.organization.consent_required:
        return None
    message = gettext(
        "The organization requires consent, and no contact with this number has given it."
    )
    return CallBlocker("consent_missing", message, EndedReason.CONSENT_MISSING, Conflict)


def outreach_blocker(session: Session, call: Call) -> CallBlocker | None:
    """Return what stops a campaign's call: its campaign doesn't run, or its contact has a status
    that ends outreach."""
    if call.source is not CallSource.CAMPAIGN:
        return None
    campaign = session.get(Campaign, call.campaign_id, populate_existing=True)
    if campaign is None or campaign.status is not CampaignStatus.ACTIVE:
        message = gettext("The campaign was stopped before the call was placed.")
        return CallBlocker("campaign_stopped", message, EndedReason.CANCELED, Conflict)
    if blocker := membership_blocker(session, campaign, call.assistant_id):
        return blocker
    contact = session.get(Contact, call.contact_id) if call.contact_id else None
    if contact is not None and not ends_outreach(contact.status):
        return None
    message = gettext("Outreach to the contact has ended.")
    return CallBlocker("contact_ended", message, EndedReason.CONTACT_ENDED, Conflict)


def plan_blocker(session: Session, call: Call, parties: CallParties) -> CallBlocker | None:
    """Return why the plan of a campaign's call doesn't allow it, now or later."""
    plan, now = plan_of(session, call), utcnow()
    if plan is None:
        return None
    if is_plan_over(plan, parties.assistant, now):
        message = gettext("The last day of the plan is over.")
        return CallBlocker("campaign_stopped", message, EndedReason.CANCELED, Conflict)
    if next_opening(call.phone_number, parties.organization, now, plan) is None:
        return _no_hours_blocker()
    return None


def membership_blocker(
    session: Session, campaign: Campaign, assistant_id: UUID
) -> CallBlocker | None:
    """Return what stops a call of an assistant that no longer belongs to the campaign."""
    member = select(CampaignAssistant.assistant_id).where(
        CampaignAssistant.campaign_id == campaign.id, CampaignAssistant.assistant_id == assistant_id
    )
    if campaign.all_assistants or session.scalar(member) is not None:
        return None
    message = gettext("The plan's assistant was removed from the campaign.")
    return CallBlocker("agent_left", message, EndedReason.CANCELED, Conflict)


def blockers(
    parties: CallParties, phone_number: str, route: NumberRoute, *, bound_by_trial: bool = True
) -> Iterator[CallBlocker]:
    """Yield every rule that a call of this assistant to this number breaks now, in their order."""
    yield from general_blockers(parties, route)
    yield from blockers_of_number(parties, phone_number, bound_by_trial=bound_by_trial)


def general_blockers(parties: CallParties, route: NumberRoute) -> Iterator[CallBlocker]:
    """Return those of `blockers` that prevent the assistant from calling any number."""
    return filter(
        None,
        (
            organization_blocker(parties),
            inactive_assistant_blocker(parties.assistant),
            unready_phone_blocker(parties.assistant),
            caller_id_blocker(parties, route),
            hand_over_blocker(parties),
        ),
    )


def blockers_of_number(
    parties: CallParties, phone_number: str, *, bound_by_trial: bool = True
) -> Iterator[CallBlocker]:
    """Return those of `blockers` that depend on the number and not on the assistant."""
    return filter(
        None,
        (
            number_blocker(phone_number, parties.destinations),
            unverified_number_blocker(parties) if bound_by_trial else None,
            calling_hours_blocker(phone_number, parties.organization),
            do_not_call_blocker(parties),
            refusal_blocker(parties),
            consent_blocker(parties),
        ),
    )


def blocker_of(session: Session, call: Call, parties: CallParties) -> CallBlocker | None:
    """Return the first rule that stops an accepted call now."""
    route = NumberRoute(call.carrier, call.account_id)
    is_bound = is_bound_by_trial(call.source, live=call.live)
    blocker = next(blockers(parties, call.phone_number, route, bound_by_trial=is_bound), None)
    blocker = blocker or outreach_blocker(session, call)
    return blocker or plan_blocker(session, call, parties)
