"""The effects of starting a campaign, in numbers."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session

from app.enums import ENDED_CONTACT_STATUSES, CampaignStatus, OutreachStatus
from app.models import (
    Call,
    Campaign,
    Contact,
    DoNotCallEntry,
    InstallationDestinations,
    Organization,
    Outreach,
    OutreachContact,
    Partner,
    PartnerDestinations,
    utcnow,
)
from app.services import verified_numbers
from app.services.calls import rules, states
from app.services.destinations import read_destinations
from app.services.outreach.eligibility import (
    NO_HOUR,
    NO_PHONE,
    exclusion,
    load_known_numbers,
    opening_of,
)
from app.services.outreach.plans import RecallChoice, stored_plan

REFUSED = "do_not_contact"
_LISTED = "listed"
LOOKED_AT = 2_000
"""Maximum contacts that are checked one by one; more are checked in the database only."""
NUMBERS_READ = 500
"""Maximum contacts whose numbers are read for a page with progress: a tenth of a millisecond each,
and such pages reload themselves."""
_REASON = case(
    (Contact.phone.is_(None), NO_PHONE),
    (func.lower(func.trim(Contact.status)).in_(sorted(ENDED_CONTACT_STATUSES)), "contact_ended"),
    (
        (Organization.trial_ended_at.is_(None) | Partner.trial_ended_at.is_(None))
        & ~verified_numbers.has_verified(Contact.phone),
        "trial_mode",
    ),
    (DoNotCallEntry.phone.is_not(None), _LISTED),
    (Contact.consent == rules.REFUSED, REFUSED),
    (Organization.consent_required & Contact.consent.is_(None), "consent_missing"),
)
"""Why a contact of `_with_rules` is left out, as far as the database can decide; null if it
isn't."""


@dataclass(frozen=True, slots=True)
class RoundForecast:
    """``left_out`` counts by the codes of `eligibility`; ``called`` are the others.
    ``on_do_not_call_list`` are those of ``do_not_contact`` whose number is on that list. If
    ``is_exact`` is False, numbers that may not be called are found only when their turn comes."""

    called: int
    left_out: dict[str, int]
    before: int
    is_exact: bool
    on_do_not_call_list: int = 0


def forecast(
    session: Session, campaign: Campaign, *, recall: RecallChoice | None = None
) -> RoundForecast:
    """Count the contacts that a start would call and leave out, in a fixed number of queries.

    ``before`` counts those that the round has called already. The campaign has a plan.
    """
    outreach = stored_plan(session, campaign)
    if outreach is None:
        return RoundForecast(0, {}, 0, is_exact=True)
    called = select(OutreachContact.contact_id).where(
        OutreachContact.campaign_id == campaign.id,
        OutreachContact.round == outreach.round,
        OutreachContact.status == OutreachStatus.CALLED,
    )
    if recall is RecallChoice.NOT_REACHED:
        called = called.join(Call, Call.id == OutreachContact.call_id).where(
            Call.status.not_in(states.NOT_REACHED)
        )
    is_new_round = recall is RecallChoice.ALL
    before = 0
    if not is_new_round:
        before = session.scalar(select(func.count()).select_from(called.subquery())) or 0
    if campaign.contact_count > LOOKED_AT:
        return _forecast_by_query(session, campaign, None if is_new_round else called, before)
    to_check = Contact.campaign_id == campaign.id
    if not is_new_round:
        to_check &= Contact.id.not_in(called)
    parties = rules.parties_of(session, outreach.assistant_id, "")
    reasons: Counter[str | None] = Counter()
    now = utcnow()
    checked = session.scalars(select(Contact).where(to_check)).all()
    phones = {contact.phone for contact in checked if contact.phone}
    numbers = load_known_numbers(session, parties.organization, phones)
    listed_count = 0
    for contact in checked:
        code = exclusion(contact, parties, numbers)
        if (
            code is None
            and opening_of(contact.phone or "", outreach, parties.organization, now)[1] is None
        ):
            code = NO_HOUR
        reasons[code] += 1
        if code == REFUSED and contact.phone in numbers.on_do_not_call_list:
            listed_count += 1
    total = reasons.pop(None, 0)
    left_out = {str(code): count for code, count in reasons.items()}
    return RoundForecast(total, left_out, before, is_exact=True, on_do_not_call_list=listed_count)


def count_undecided(session: Session, campaigns: Collection[Campaign]) -> dict[UUID, Counter[str]]:
    """Count, in three queries, the contacts without a decision that the current round of each
    campaign will leave out, by reason. Those of campaigns with more than `LOOKED_AT` contacts are
    found when their turn comes, as are unfit numbers of more than `NUMBERS_READ` contacts."""
    looked_at = [campaign for campaign in campaigns if is_looked_at(campaign)]
    ids = [campaign.id for campaign in looked_at]
    if not ids:
        return {}
    why = reason_ahead()
    query = with_decisions(select(Contact.campaign_id, why, func.count()).select_from(Contact))
    query = query.where(
        Contact.campaign_id.in_(ids), OutreachContact.contact_id.is_(None), why.is_not(None)
    )
    undecided: dict[UUID, Counter[str]] = defaultdict(Counter)
    for campaign_id, code, count in session.execute(query.group_by(Contact.campaign_id, why)):
        undecided[campaign_id][code] = count
    for campaign_id, _, code in unfit_numbers(session, looked_at):
        undecided[campaign_id][code] += 1
    return undecided


def unfit_numbers(
    session: Session, campaigns: Collection[Campaign]
) -> Iterator[tuple[UUID, UUID, str]]:
    """Yield campaign, contact and reason of each contact without a decision whose number will not
    be called, where `reason_ahead` is null: the database can't read numbers. Campaigns that would
    bring their contacts to more than `NUMBERS_READ` are left out."""
    campaign_ids, room = [], NUMBERS_READ
    for campaign in campaigns:
        if campaign.contact_count <= room:
            campaign_ids.append(campaign.id)
            room -= campaign.contact_count
    plans = (
        select(Outreach, Organization, InstallationDestinations, PartnerDestinations)
        .join(Organization, Organization.id == Outreach.organization_id)
        .outerjoin(InstallationDestinations, InstallationDestinations.id == 1)
        .outerjoin(PartnerDestinations, PartnerDestinations.partner_id == Organization.partner_id)
        .where(Outreach.campaign_id.in_(campaign_ids))
    )
    rules_of = {
        plan.campaign_id: (
            plan,
            organization,
            read_destinations(organization, installation, partner_destinations),
        )
        for plan, organization, installation, partner_destinations in session.execute(plans)
    }
    now = utcnow()
    open_contacts = with_decisions(select(Contact.campaign_id, Contact.id, Contact.phone)).where(
        Contact.campaign_id.in_(rules_of),
        OutreachContact.contact_id.is_(None),
        reason_ahead().is_(None),
    )
    for campaign_id, contact_id, phone in session.execute(open_contacts):
        plan, organization, destinations = rules_of[campaign_id]
        blocker = rules.number_blocker(phone, destinations) or rules.calling_hours_blocker(
            phone, organization
        )
        if blocker is not None:
            yield campaign_id, contact_id, blocker.code
        elif opening_of(phone, plan, organization, now)[1] is None:
            yield campaign_id, contact_id, NO_HOUR


def is_looked_at(campaign: Campaign) -> bool:
    is_archived = campaign.status is CampaignStatus.ARCHIVED
    return campaign.contact_count <= LOOKED_AT and not is_archived


def reason_ahead() -> ColumnElement[str | None]:
    """Return the reason why a contact of `with_decisions` will be left out, or null."""
    return case((_REASON == _LISTED, REFUSED), else_=_REASON)


def with_decisions(query: Any) -> Any:
    """Join contacts of campaigns with a plan to the decisions of its current round about them, if
    any, and to the data of `reason_ahead`."""
    row = OutreachContact
    of_round = (row.contact_id == Contact.id) & (row.campaign_id == Outreach.campaign_id)
    return (
        _with_rules(query)
        .join(Outreach, Outreach.campaign_id == Contact.campaign_id)
        .outerjoin(row, of_round & (row.round == Outreach.round))
    )


def _with_rules(query: Any) -> Any:
    is_listed = (DoNotCallEntry.organization_id == Contact.organization_id) & (
        DoNotCallEntry.phone == Contact.phone
    )
    return (
        query.join(Organization, Organization.id == Contact.organization_id)
        .join(Partner, Partner.id == Organization.partner_id)
        .outerjoin(DoNotCallEntry, is_listed)
    )


def _forecast_by_query(
    session: Session, campaign: Campaign, called: Select[UUID] | None, before: int
) -> RoundForecast:
    counts = _count_reasons(session, Contact.campaign_id == campaign.id)
    if called is not None:
        # Counted separately: without fresh statistics PostgreSQL scans all of them for each
        # contact.
        counts -= _count_reasons(session, Contact.id.in_(called))
    total, listed_count = counts.pop(None, 0), counts.pop(_LISTED, 0)
    counts[REFUSED] += listed_count
    left_out = {str(code): count for code, count in counts.items() if count}
    return RoundForecast(total, left_out, before, is_exact=False, on_do_not_call_list=listed_count)


def _count_reasons(session: Session, condition: ColumnElement[bool]) -> Counter[str | None]:
    query = _with_rules(select(_REASON, func.count()).select_from(Contact)).where(condition)
    query = query.group_by(_REASON)
    counts: Counter[str | None] = Counter()
    for code, count in session.execute(query):
        counts[code] = count
    return counts
