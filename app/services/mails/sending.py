"""The sending of a queued mail, step by step, for the worker.

A one-time token is created when the mail is rendered, so only the mail contains it. Every further
attempt creates a new token.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

from sqlalchemy.orm import Session

from app import languages
from app.config import Settings
from app.enums import OrganizationStatus, UserStatus
from app.gateways.job_queue import enqueue_mail
from app.gateways.mailers import OutgoingMail
from app.models import LinkPurpose, Mail, MailKind, Organization, Partner, User, is_erased, utcnow
from app.policy.caller import system_caller
from app.services import audit, domains
from app.services.auth import email_changes, one_time_links, recovery
from app.services.auth.email_changes import AddressSide
from app.services.branding.brand import NEUTRAL, Brand, of_partner
from app.services.mail_queue import INVITED_IN
from app.services.mails.facts import MailContext
from app.services.mails.rendering import render
from app.services.mails.texts import TEXTS_BY_KIND

log = logging.getLogger(__name__)

GAPS_SECONDS = (30, 120, 600, 1800, 7200, 21600, 43200)
"""Seconds between attempts: a mail server can be down for a day without a lost mail."""

_LINKS = {
    MailKind.INVITATION: (LinkPurpose.INVITATION, "invitation"),
    MailKind.SET_PASSWORD: (LinkPurpose.SET_PASSWORD, "password"),
    MailKind.RESET_PASSWORD: (LinkPurpose.RESET_PASSWORD, "password"),
}
_WITH_LINK = {*_LINKS, MailKind.CONFIRM_EMAIL}
_NEEDED_STATUS = {
    MailKind.INVITATION: UserStatus.INVITED,
    MailKind.SET_PASSWORD: UserStatus.ACTIVE,
    MailKind.RESET_PASSWORD: UserStatus.ACTIVE,
    MailKind.CONFIRM_EMAIL: UserStatus.ACTIVE,
    MailKind.EXPORT_FINISHED: UserStatus.ACTIVE,
    MailKind.CREDENTIAL_CREATED: UserStatus.ACTIVE,
    MailKind.CREDENTIAL_ENDS: UserStatus.ACTIVE,
    MailKind.ADMINISTRATOR_ADDED: UserStatus.ACTIVE,
}
"""The user statuses in which each mail is useful."""


@dataclass(frozen=True, slots=True)
class _MailUser:
    """The user who gets the mail, loaded now."""

    user: User | None
    partner: Partner | None
    organization: Organization | None
    brand: Brand
    site: str
    inviter: str | None

    def language(self, details: Mapping[str, Any]) -> str:
        """The language that the user has chosen, that of the page where the mail was requested, the
        partner's, or that of the inviting user."""
        user_language = self.user.language if self.user else None
        asked_in, invited_in = details.get("language"), details.get(INVITED_IN)
        return languages.best_tag((user_language, asked_in, self.brand.language, invited_in))


def begin(session: Session, mail_id: UUID, attempt: int, settings: Settings) -> OutgoingMail | None:
    """Return the rendered mail; None if it was sent already or is no longer needed (the user was
    suspended or joined meanwhile)."""
    mail = _lock_mail(session, mail_id)
    if mail is None or mail.is_over or mail.attempts > attempt:
        return None
    kind = MailKind(mail.kind)
    if kind is MailKind.RECOVERY:
        recovery.send_recovery_mails(session, mail)
        return None
    reader = _load_reader(session, mail, settings)
    address = mail.to or (reader.user.email if reader.user else None)
    if address is None or not _is_still_needed(kind, reader):
        _fail_mail(mail, "no longer needed")
        return None
    mail.attempts = attempt
    link, ends = _create_link(session, kind, mail, reader)
    if ends is None and kind in _WITH_LINK:
        _fail_mail(mail, "no longer needed")
        return None
    site = origin_of(reader.partner, settings)
    context = MailContext(
        mail=mail,
        brand=reader.brand,
        email=address,
        zone=(reader.user.timezone if reader.user else None) or "UTC",
        site=site,
        recover_url=f"{reader.site}/forgot-password",
        organization=reader.organization.name if reader.organization else None,
        role=reader.user.role if reader.user else None,
        inviter=reader.inviter,
        link=link,
        link_ends=ends,
    )
    with languages.using_language(reader.language(mail.details)):
        rendered = render(reader.brand, TEXTS_BY_KIND[kind](context), site)
        sender_name = reader.brand.spoken_name
    session.flush()
    sender = None
    if settings.mail_spf_include:
        sender = domains.sender_of(session, reader.partner, settings.secret_keys)
    return OutgoingMail(
        id=mail.id,
        partner_id=mail.partner_id,
        to=address,
        to_name=reader.user.name if reader.user else None,
        sender_name=sender_name,
        reply_to=mail.details.get("email") or reader.brand.support_email,
        subject=rendered.subject,
        text=rendered.text,
        html=rendered.html,
        sender=sender.email if sender else None,
        signature=sender.signature if sender else None,
    )


def record_sent(session: Session, mail_id: UUID) -> None:
    """Record that the mail was accepted; it is never sent again."""
    mail = _lock_mail(session, mail_id)
    if mail is not None and not mail.is_over:
        mail.sent_at = utcnow()
        session.flush()


def schedule_retry(session: Session, mail_id: UUID, attempt: int, reason: str) -> None:
    """Record that the mail was not accepted: queue the next attempt, or give up after the last."""
    if attempt > len(GAPS_SECONDS):
        record_refused(session, mail_id, f"given up after {attempt} attempts; {reason}")
        return
    mail = _lock_mail(session, mail_id)
    if mail is not None and not mail.is_over:
        mail.failure = reason[:500]
        enqueue_mail(session, mail.id, attempt + 1, GAPS_SECONDS[attempt - 1])
        session.flush()


def record_refused(session: Session, mail_id: UUID, reason: str) -> None:
    """Record in the log and the history that the mail will never arrive."""
    mail = _lock_mail(session, mail_id)
    if mail is None or mail.is_over:
        return
    log.error("mail %s (%s) was not sent: %s", mail.id, mail.kind, reason)
    _fail_mail(mail, reason)
    user = session.get(User, mail.user_id) if mail.user_id else None
    audit.record(
        session,
        system_caller("mail", partner_id=mail.partner_id),
        action="mail.failed",
        target_type="user" if user else "partner",
        target_id=mail.user_id or mail.partner_id or mail.id,
        partner_id=mail.partner_id,
        organization_id=user.organization_id if user else None,
        target=user.email if user else None,
        after={"mail": mail.kind, "reason": reason},
    )
    session.flush()


def _fail_mail(mail: Mail, reason: str) -> None:
    mail.failed_at, mail.failure = utcnow(), reason[:500]


def _lock_mail(session: Session, mail_id: UUID) -> Mail | None:
    return session.get(Mail, mail_id, with_for_update=True, populate_existing=True)


def _load_reader(session: Session, mail: Mail, settings: Settings) -> _MailUser:
    user = session.get(User, mail.user_id) if mail.user_id else None
    partner = session.get(Partner, mail.partner_id) if mail.partner_id else None
    organization = (
        session.get(Organization, user.organization_id) if user and user.organization_id else None
    )
    return _MailUser(
        user=user,
        partner=partner,
        organization=organization,
        brand=of_partner(partner) if partner else NEUTRAL,
        site=site_of(partner, settings),
        inviter=_inviter_name(session, user) if user else None,
    )


def _inviter_name(session: Session, user: User) -> str | None:
    """Return the name of the partner's user who invited this one, in one line."""
    inviter = session.get(User, user.invited_by_id) if user.invited_by_id else None
    if inviter is None or inviter.partner_id != user.partner_id or is_erased(inviter.email):
        return None
    return " ".join((inviter.name or inviter.email).split())


def site_of(partner: Partner | None, settings: Settings) -> str:
    """Return the base URL of the partner's links, without a trailing slash."""
    origin = origin_of(partner, settings)
    return f"{origin}/p/{quote(partner.slug)}" if partner else origin


def origin_of(partner: Partner | None, settings: Settings) -> str:
    """Return the partner's own host once it is verified, so that no other name appears; only in
    production, where that host is reachable."""
    if partner and partner.domain_verified_at and partner.domain and settings.env == "production":
        return f"https://{partner.domain_key}"
    return settings.public_url.rstrip("/")


def _is_still_needed(kind: MailKind, reader: _MailUser) -> bool:
    if reader.partner is not None and reader.partner.suspended_at is not None:
        return False
    if kind not in _NEEDED_STATUS:
        return True
    user, organization = reader.user, reader.organization
    if user is None or user.status is not _NEEDED_STATUS[kind]:
        return False
    if kind is MailKind.SET_PASSWORD and user.password_hash is not None:
        return False
    return organization is None or organization.status is OrganizationStatus.ACTIVE


def _create_link(
    session: Session, kind: MailKind, mail: Mail, reader: _MailUser
) -> tuple[str, datetime | None]:
    if kind is MailKind.CONFIRM_EMAIL:
        side = AddressSide(mail.details["side"])
        issued = email_changes.new_token(session, UUID(mail.details["changeId"]), side)
        return (f"{reader.site}/email/{issued[0]}", issued[1]) if issued else ("", None)
    if kind not in _LINKS or reader.user is None:
        return "", None
    purpose, word = _LINKS[kind]
    token = one_time_links.create(session, reader.user.id, purpose)
    return f"{reader.site}/{word}/{token}", utcnow() + one_time_links.LIFETIME[purpose]
