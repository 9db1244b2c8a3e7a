"""A partner's domains: which ones are checked by DNS, and when the portal's domain is in effect."""

import re
import secrets
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import DomainPurpose
from app.errors import Conflict, ValidationFailed
from app.gateways.job_queue import enqueue_check
from app.languages import gettext
from app.models import Partner, PartnerDomain, PortalSession, User, new_id, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.partners.loading import domain_key
from app.services.uniqueness import unless_taken

HOST = re.compile(
    r"(?=.{4,200}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]"
)
"""A host name that can be verified, in lower case."""


def refuse_unusable(session: Session, domain: str | None, partner_id: UUID | None = None) -> None:
    """Refuse a domain that this partner, or a new one, could never verify.

    Raises `ValidationFailed` (``invalid_domain``, ``domain_taken``).
    """
    if domain is None:
        return
    key = domain_key(domain)
    _refuse_no_host(key, domain)
    query = select(Partner.id).where(
        Partner.domain_key == key, Partner.domain_verified_at.is_not(None)
    )
    if session.scalar(query) not in (None, partner_id):
        raise ValidationFailed.on("domain", "domain_taken", _taken_message())


def domain_of(
    session: Session, partner: Partner, purpose: DomainPurpose, *, for_change: bool = False
) -> PartnerDomain | None:
    return session.get(
        PartnerDomain,
        (partner.id, purpose),
        populate_existing=for_change,
        with_for_update=True if for_change else None,
    )


def track(
    session: Session, partner: Partner, purpose: DomainPurpose, domain: str | None
) -> PartnerDomain | None:
    """Have a new domain checked, and forget the results of the one before. What isn't a host is
    not checked. Return its row."""
    stored = domain_of(session, partner, purpose)
    if domain is None or not HOST.fullmatch(domain):
        if stored is not None:
            session.delete(stored)
            session.flush()
        return None
    if stored is None:
        stored = PartnerDomain(
            partner_id=partner.id,
            purpose=purpose,
            domain=domain,
            token=secrets.token_urlsafe(24),
            asked_at=utcnow(),
            findings=[],
        )
        session.add(stored)
    elif stored.domain == domain:
        return stored
    stored.domain, stored.findings, stored.is_taken = domain, [], False
    stored.checked_at = stored.proved_at = stored.missing_since = stored.lost_at = None
    enqueue_domain_check(session, stored)
    return stored


def enqueue_domain_check(session: Session, domain: PartnerDomain) -> None:
    """Queue a check of the domain's DNS records."""
    domain.asked_at = utcnow()
    session.flush()
    purpose = domain.purpose.value
    owner = domain.partner_id
    enqueue_check(session, "check_domain", new_id(), owner, str(owner), purpose)


def verify(session: Session, caller: Caller, partner: Partner) -> None:
    """Put the partner's domain into effect, if it isn't yet. Sessions of others' users at this host
    end.

    Raises `ValidationFailed` (``no_domain``, ``invalid_domain``) and `Conflict` (``domain_taken``)
    if another partner has verified the same domain.
    """
    if partner.domain_key is None:
        raise ValidationFailed.on(
            "domain", "no_domain", gettext("The partner has no domain to verify.")
        )
    _refuse_no_host(partner.domain_key, partner.domain)
    if partner.domain_verified_at is not None:
        return
    after = {"domain": partner.domain}
    with unless_taken(session, Conflict(_taken_message(), "domain_taken")):
        partner.domain_verified_at = utcnow()
        audit.record_version(session, caller, "partner.domain_verified", partner, after=after)
    end_sessions(session, partner.domain_key, except_of=partner)


def _refuse_no_host(key: str, domain: str | None) -> None:
    if not HOST.fullmatch(key):
        message = gettext("“%(domain)s” is not a host name like portal.example.com.", domain=domain)
        raise ValidationFailed.on("domain", "invalid_domain", message)


def _taken_message() -> str:
    return gettext("Another partner's verified domain is the same.")


def unverify(session: Session, caller: Caller, partner: Partner) -> None:
    """Take the partner's domain out of effect. Every session at its host ends: the domain may get
    another owner, who would see the cookies."""
    partner.domain_verified_at = None
    before = {"domain": partner.domain}
    audit.record_version(session, caller, "partner.domain_unverified", partner, before=before)
    end_sessions(session, partner.domain_key)


def end_sessions(session: Session, host: str | None, *, except_of: Partner | None = None) -> None:
    """End the sessions at a host, except those of a partner's own users."""
    if host is None:
        return
    statement = delete(PortalSession).where(PortalSession.host == host)
    if except_of is not None:
        user_ids = select(User.id).where(User.partner_id == except_of.id)
        statement = statement.where(PortalSession.user_id.not_in(user_ids))
    session.execute(statement.execution_options(synchronize_session=False))
