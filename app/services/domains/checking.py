"""Checks of domains in steps for the worker, and their consequences."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import DnsRecordStatus, DomainPurpose
from app.errors import Conflict, NotFound
from app.models import MailKind, Partner, PartnerDomain, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import mail_queue, partners
from app.services.domains.records import RecordFinding, RequiredRecord, records_of
from app.services.partners import domains

_ABSENT = (DnsRecordStatus.MISSING, DnsRecordStatus.DIFFERENT)


@dataclass(frozen=True, slots=True)
class DomainCheck:
    """The DNS records to look up for a domain of a partner."""

    partner_id: UUID
    purpose: DomainPurpose
    domain: str
    records: Sequence[RequiredRecord]


def domains_of(
    session: Session, caller: Caller, partner_id: UUID
) -> dict[DomainPurpose, PartnerDomain]:
    """Return the partner's domains that are checked, by their purpose."""
    caller.require(Permission.PARTNER_WRITE)
    partners.check(session, caller, partner_id)
    query = select(PartnerDomain).where(PartnerDomain.partner_id == partner_id)
    return {domain.purpose: domain for domain in session.scalars(query)}


def check_again(session: Session, caller: Caller, partner_id: UUID) -> None:
    """Queue a check of each of the partner's domains that is not being checked. Raises `NotFound`
    if it has none."""
    caller.require(Permission.PARTNER_WRITE)
    partner = partners.get(session, caller, partner_id, for_change=True)
    own_domains = domains_of(session, caller, partner.id).values()
    if not own_domains:
        raise NotFound
    for domain in own_domains:
        if not domain.is_waiting:
            domains.enqueue_domain_check(session, domain)


def refresh_due(session: Session) -> int:
    """Queue the checks that are due: a day after the last one, an hour while records are missing.
    Return how many are queued."""
    due = session.scalars(PartnerDomain.due(PartnerDomain.missing_since.is_not(None))).all()
    for domain in due:
        domains.enqueue_domain_check(session, domain)
    return len(due)


def begin(
    session: Session, partner_id: UUID, purpose: DomainPurpose, settings: Settings
) -> DomainCheck | None:
    """Return what to look up; None if the partner has no such domain any more."""
    domain = session.get(PartnerDomain, (partner_id, purpose))
    if domain is None or (purpose is DomainPurpose.MAIL and not settings.mail_spf_include):
        return None
    records = records_of(domain, settings.public_host, settings.mail_spf_include)
    return DomainCheck(partner_id, purpose, domain.domain, records)


def store_findings(
    session: Session, examined: DomainCheck, findings: Sequence[RecordFinding], grace: timedelta
) -> None:
    """Store the findings and decide: a domain whose records are all found becomes verified. The
    portal's domain loses that status once records are missing for longer than ``grace``, the mails'
    domain at once. If the DNS doesn't answer, nothing changes. Findings about an earlier domain are
    ignored."""
    caller = system_caller("domains", partner_id=examined.partner_id)
    partner = session.get(
        Partner, examined.partner_id, with_for_update={"key_share": True}, populate_existing=True
    )
    if partner is None:
        return
    domain = domains.domain_of(session, partner, examined.purpose, for_change=True)
    if domain is None or domain.domain != examined.domain:
        return
    domain.checked_at = utcnow()
    domain.findings = [
        {"kind": finding.kind.value, "state": finding.status.value, "found": list(finding.found)}
        for finding in findings
    ]
    if all(finding.status is DnsRecordStatus.SEEN for finding in findings):
        _store_verified(session, caller, partner, domain)
    elif any(finding.status in _ABSENT for finding in findings):
        _store_missing(session, caller, partner, domain, grace)
    session.flush()


def _store_verified(
    session: Session, caller: Caller, partner: Partner, domain: PartnerDomain
) -> None:
    domain.missing_since = None
    if domain.purpose is DomainPurpose.PORTAL and partner.domain_verified_at is None:
        try:
            domains.verify(session, caller, partner)
        except Conflict:
            domain.is_taken = True
            return
        domain.proved_at = utcnow()
    elif domain.purpose is DomainPurpose.MAIL:
        domain.proved_at = domain.proved_at or utcnow()
    domain.is_taken, domain.lost_at = False, None


def _store_missing(
    session: Session,
    caller: Caller,
    partner: Partner,
    domain: PartnerDomain,
    grace: timedelta,
) -> None:
    now = utcnow()
    is_first, domain.missing_since = domain.missing_since is None, domain.missing_since or now
    if domain.proved_at is None:
        return
    is_portal = domain.purpose is DomainPurpose.PORTAL
    ends = domain.missing_since + (grace if is_portal else timedelta())
    if now < ends:
        if is_first:
            _mail_admins(session, domain, until=ends.isoformat())
        return
    domain.proved_at, domain.lost_at = None, now
    if is_portal and partner.domain_verified_at is not None:
        domains.unverify(session, caller, partner)
    _mail_admins(session, domain, until=None)


def _mail_admins(session: Session, domain: PartnerDomain, until: str | None) -> None:
    details = {"purpose": domain.purpose.value, "domain": domain.domain, "until": until}
    mail_queue.enqueue_to_administrators(
        session, MailKind.DOMAIN_RECORDS, domain.partner_id, details=details
    )
