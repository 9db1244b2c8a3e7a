"""The DNS records of the partner's domains: the required ones, and the result of the last check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import DnsRecordKind, DnsRecordStatus, DomainPurpose
from app.extensions import caller, settings, transaction
from app.models import Partner, PartnerDomain
from app.portal.settings import blueprint
from app.portal.settings.domain_labels import NAMES, domain_badge, explanation, hint, record_badge
from app.portal.web.current_user import sign_in_url
from app.services import domains, partners


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record to set, and its status at the last check; None before the first."""

    record: domains.RequiredRecord
    status: DnsRecordStatus | None
    found: Sequence[str]

    @property
    def name(self) -> str:
        return str(NAMES[self.record.kind])

    @property
    def hint(self) -> str:
        return hint(self.record)

    @property
    def explanation(self) -> str:
        return explanation(self.record, self.status)


@dataclass(frozen=True, slots=True)
class DomainView:
    """A domain of the partner with its records. ``ends_at`` is when it loses its verification. The
    platform's operator vouches for a domain that is verified without its records."""

    domain: PartnerDomain
    rows: Sequence[RecordRow]
    status: tuple[str, str | None]
    ends_at: datetime | None
    is_vouched_for: bool

    @property
    def missing(self) -> list[RecordRow]:
        """The records that have to be set; none where nothing is checked."""
        if self.is_vouched_for or settings().is_local:
            return []
        return [row for row in self.rows if row.status is not DnsRecordStatus.SEEN]

    @property
    def as_text(self) -> str:
        """The records as lines to copy."""
        records = [row.record for row in self.rows]
        return "\n".join("  ".join((each.type, each.name, each.value)) for each in records)

    def badge_of(self, row: RecordRow) -> tuple[str, str | None]:
        """Return the word and the tone of a record's status."""
        return record_badge(row.status, is_needed=not self.is_vouched_for)


@blueprint.get("/settings/domain")
def show_domain() -> str:
    with transaction(read_only=True) as session:
        return render_template("portal/settings/domain.html", **_context(session))


@blueprint.get("/settings/domain/records")
def show_domain_records() -> str:
    """Return the records, which reload while they are being checked."""
    with transaction(read_only=True) as session:
        return render_template("portal/settings/_domain_records.html", **_context(session))


@blueprint.post("/settings/domain/check")
def check_domain() -> Response:
    with transaction() as session:
        domains.check_again(session, caller(), partners.own_partner_id(caller()))
    return redirect(url_for("portal.settings.show_domain"), 303)


def _context(session: Session) -> dict[str, Any]:
    by_purpose = domains.domains_of(session, caller(), partners.own_partner_id(caller()))
    partner = partners.get_own(session, caller())  # after its domains: a check changes both
    if not settings().mail_spf_include:
        by_purpose.pop(DomainPurpose.MAIL, None)
    domain_views = {
        purpose.value: _domain_view(partner, domain) for purpose, domain in by_purpose.items()
    }
    mail = by_purpose.get(DomainPurpose.MAIL)
    own_sender = partner.sender_email if mail and mail.proved_at else None
    return {
        "partner": partner,
        "domain_views": domain_views,
        "explained": next(
            (each for each in DomainPurpose if each in domain_views and domain_views[each].missing),
            None,
        ),
        "is_done": _is_done(partner, domain_views),
        "is_waiting": not settings().is_local
        and any(domain.is_waiting for domain in by_purpose.values()),
        "portal_url": portal_url(partner),
        "public_host": settings().public_host,
        "is_local": settings().is_local,
        "sender": own_sender or settings().effective_mail_from,
        "spf_include": settings().mail_spf_include,
        "has_sender": bool(settings().mail_spf_include),
    }


def portal_url(partner: Partner) -> str:
    """Return the URL where the partner's customers sign in: at its verified domain, else at the
    installation's host."""
    if partner.domain_verified_at is not None:
        return f"https://{partner.domain_key}"
    return settings().public_url.rstrip("/") + sign_in_url(partner.slug)


def _domain_view(partner: Partner, domain: PartnerDomain) -> DomainView:
    is_verified = partner.domain_verified_at is not None
    ends_at = _ends_at(domain) if is_verified else None
    is_of_portal = domain.purpose == DomainPurpose.PORTAL
    return DomainView(
        domain,
        _record_rows(domain),
        domain_badge(
            domain,
            is_verified=is_verified,
            is_ending=ends_at is not None,
            is_local=settings().is_local,
        ),
        ends_at,
        is_vouched_for=is_of_portal and is_verified and not domain.proved_at and ends_at is None,
    )


def _ends_at(domain: PartnerDomain) -> datetime | None:
    if domain.proved_at is None or domain.missing_since is None:
        return None
    return domain.missing_since + timedelta(days=settings().domain_grace_days)


def _record_rows(domain: PartnerDomain) -> list[RecordRow]:
    """Return the records of a domain, without the address of an installation that has no public
    one."""
    config = settings()
    findings = {DnsRecordKind(each["kind"]): each for each in domain.findings}
    rows = []
    for record in domains.records_of(domain, config.public_host, config.mail_spf_include):
        if config.is_local and record.kind is DnsRecordKind.ADDRESS:
            continue
        finding = findings.get(record.kind)
        status = DnsRecordStatus(finding["state"]) if finding else None
        rows.append(RecordRow(record, status, finding["found"] if finding else ()))
    return rows


def _is_done(partner: Partner, domain_views: Mapping[str, DomainView]) -> bool:
    """Return whether no record of the partner's domains is left to set."""
    of_portal = domain_views.get(DomainPurpose.PORTAL)
    of_mail = domain_views.get(DomainPurpose.MAIL)
    return (
        partner.domain_verified_at is not None
        and (of_portal is None or of_portal.ends_at is None)
        and (of_mail is None or of_mail.domain.proved_at is not None)
    )
