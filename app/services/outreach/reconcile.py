"""Contacts of running campaigns that were called after a backup, according to the carrier."""

from sqlalchemy import ColumnElement, Select, exists, select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CallSource, CampaignStatus, CarrierKind, OutreachStatus
from app.errors import DomainError
from app.gateways.carriers.base import ListedCall
from app.models import Assistant, Campaign, Contact, Outreach, OutreachContact, utcnow
from app.policy.caller import Caller, system_caller
from app.services import calls, carrier_accounts
from app.services.calls import reconcile
from app.services.outreach.eligibility import request_for


def accounts_of_running(session: Session, carrier: CarrierKind) -> set[reconcile.Account]:
    """Return the carriers of running campaigns; ``carrier`` is the installation's."""
    query = select(Campaign.partner_id, Campaign.organization_id).join(
        Outreach, Outreach.campaign_id == Campaign.id
    )
    accounts: set[reconcile.Account] = set()
    for partner_id, organization_id in session.execute(query.where(*_is_running()).distinct()):
        account = carrier_accounts.effective(session, partner_id, organization_id)
        accounts.add((account.carrier, account.id) if account else (carrier, None))
    return accounts


def record_placed(
    session: Session, caller: Caller, listed: ListedCall, carrier: CarrierKind
) -> bool:
    """Store the listed call as the call of a contact that its campaign has yet to call; return
    whether there is such a contact.

    A contact that may not be called any more is left out of the round with the reason.
    """
    waiting = session.execute(_waiting_query(listed)).one_or_none()
    if waiting is None:
        return False
    outreach, campaign, contact = waiting
    row = _row_of(session, outreach, contact)
    row.decided_at, row.due_at, row.reason = utcnow(), None, None
    try:
        with session.begin_nested():
            accepted = calls.schedule(
                session,
                system_caller(f"Campaign {campaign.name}", partner_id=campaign.partner_id),
                request_for(contact, outreach),
                CallSettings(carrier),
                source=CallSource.CAMPAIGN,
                live=True,
                campaign_id=campaign.id,
                contact_id=contact.id,
            )
    except DomainError as refusal:
        row.status, row.reason = OutreachStatus.LEFT_OUT, refusal.code
        session.add(row)
        session.flush()
        return True
    row.status, row.call_id = OutreachStatus.CALLED, accepted.call_id
    session.add(row)
    session.flush()
    reconcile.write_attempt(session, caller, accepted.call_id, listed)
    return True


def _is_running() -> tuple[ColumnElement[bool], ...]:
    return Campaign.status == CampaignStatus.ACTIVE, Outreach.started_at.is_not(None)


def _waiting_query(listed: ListedCall) -> Select[Outreach, Campaign, Contact]:
    """Return the query of the contact that the listed call may have reached."""
    decided = exists().where(
        OutreachContact.contact_id == Contact.id,
        OutreachContact.campaign_id == Outreach.campaign_id,
        OutreachContact.round == Outreach.round,
        OutreachContact.status != OutreachStatus.WAITING,
    )
    return (
        select(Outreach, Campaign, Contact)
        .join(Campaign, Campaign.id == Outreach.campaign_id)
        .join(Contact, Contact.campaign_id == Campaign.id)
        .join(Assistant, Assistant.id == Outreach.assistant_id)
        .where(
            *_is_running(),
            ~decided,
            Contact.phone == listed.to_number,
            Assistant.phone_number == listed.from_number,
        )
        .order_by(Contact.id)
        .limit(1)
        .with_for_update(of=Outreach)
    )


def _row_of(session: Session, outreach: Outreach, contact: Contact) -> OutreachContact:
    """Return the row of the contact in the round, new if it has none."""
    key = contact.id, outreach.campaign_id, outreach.round
    return session.get(OutreachContact, key) or OutreachContact(
        contact_id=contact.id, campaign_id=outreach.campaign_id, round=outreach.round
    )
