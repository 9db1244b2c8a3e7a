"""The DNS records of the partner's domains: the required ones, and the result of the last check."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import DnsRecordKind, DnsRecordState, DomainPurpose
from app.extensions import caller, settings, transaction
from app.models import Partner, PartnerDomain
from app.portal.settings.domain_words import NAMES, explanation, hint
from app.portal.web.blueprint import portal
from app.portal.web.current_user import sign_in_url
from app.services import domains, partners


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record to set, and its state at the last check; None before the first."""

    record: domains.RequiredRecord
    state: DnsRecordState | None
    found: Sequence[str]

    @property
    def name(self) -> str:
        return str(NAMES[self.record.kind])

    @property
    def hint(self) -> str:
        return hint(self.record)

    @property
    def explanation(self) -> str:
        return explanation(self.record, self.state)


@dataclass(frozen=True, slots=True)
class DomainView:
    """A domain of the partner with its records. ``ends_at`` is when it loses its verification."""

    domain: PartnerDomain
    rows: Sequence[RecordRow]
    ends_at: datetime | None


@portal.get("/settings/domain")
def portal_settings_domain() -> str:
    with transaction(read_only=True) as session:
        return render_template("portal/settings/domain.html", **_context(session))


@portal.get("/settings/domain/records")
def portal_settings_domain_records() -> str:
    """Return the records, which reload while they are being checked."""
    with transaction(read_only=True) as session:
        return render_template("portal/settings/_domain_records.html", **_context(session))


@portal.post("/settings/domain/check")
def portal_settings_domain_check() -> Response:
    with transaction() as session:
        domains.check_again(session, caller(), partners.own(caller()))
    return redirect(url_for("portal.portal_settings_domain"), 303)


def _context(session: Session) -> dict[str, Any]:
    found = domains.domains_of(session, caller(), partners.own(caller()))
    partner = partners.get_own(session, caller())  # after its domains: a check changes both
    if not settings().mail_spf_include:
        found.pop(DomainPurpose.MAIL, None)
    shown = {purpose.value: _shown(partner, domain) for purpose, domain in found.items()}
    mail = found.get(DomainPurpose.MAIL)
    own_sender = partner.sender_email if mail and mail.proved_at else None
    return {
        "partner": partner,
        "shown": shown,
        "is_waiting": not settings().is_local
        and any(domain.is_waiting for domain in found.values()),
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


def _shown(partner: Partner, domain: PartnerDomain) -> DomainView:
    known = settings()
    found = {DnsRecordKind(one["kind"]): one for one in domain.findings}
    rows = []
    for record in domains.records_of(domain, known.public_host, known.mail_spf_include):
        one = found.get(record.kind)
        state = DnsRecordState(one["state"]) if one else None
        rows.append(RecordRow(record, state, one["found"] if one else ()))
    is_ending = domain.proved_at is not None and domain.missing_since is not None
    ends = timedelta(days=known.domain_grace_days)
    ends_at = domain.missing_since + ends if is_ending and domain.missing_since else None
    return DomainView(domain, rows, ends_at if partner.domain_verified_at else None)
