"""The monthly report as a mail: to the recipients of its schedule, as a test and as a preview."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import languages
from app.enums import OrganizationStatus
from app.languages import gettext
from app.models import Mail, MailKind, Organization, Partner, ReportSchedule, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import mail_queue, mails, partners
from app.services.billing.usage import ModelRate
from app.services.branding.brand import Brand
from app.services.mails import RenderedMail
from app.services.monthly_reports.details import details_of
from app.services.monthly_reports.schedules import get, next_time, owner_of
from app.services.users import account

A_RUN = 50
"""Reports queued per transaction."""


def send_test(
    session: Session, caller: Caller, organization_id: UUID | None, model: ModelRate
) -> Mail:
    """Queue the report of last month for the caller alone. Raises `Forbidden`, `NotFound`."""
    owner = owner_of(session, caller, organization_id)
    user = account.get(session, caller)
    of_schedule = get(session, caller, organization_id)[0].language
    tag = _best_language(session, owner, (user.language, of_schedule))
    return mail_queue.enqueue(
        session,
        MailKind.MONTHLY_REPORT,
        partner_id=partners.own_partner_id(caller),
        user_id=user.id,
        details=_mail_details(session, caller, owner, utcnow().date(), model, tag),
    )


def preview(
    session: Session,
    caller: Caller,
    organization_id: UUID | None,
    language: str | None,
    model: ModelRate,
    sender: tuple[Brand, str],
    to: str | None = None,
) -> RenderedMail:
    """Return the mail with the report of last month, in the language or else the partner's, as it
    is sent ``to`` an address or, without one, to no one in particular. ``sender`` is the brand
    and the origin of its links. Raises `Forbidden`, `NotFound`."""
    owner = owner_of(session, caller, organization_id)
    tag = _best_language(session, owner, (language,))
    details = _mail_details(session, caller, owner, utcnow().date(), model, tag)
    with languages.using_language(tag):
        mail = Mail(
            id=new_id(),
            kind=MailKind.MONTHLY_REPORT.value,
            to=to or gettext("the recipient’s address"),
            details=details,
            created_at=utcnow(),
        )
        return mails.preview(*sender, mail)


def languages_of(
    session: Session, caller: Caller, schedules: Sequence[tuple[Sequence[str], str | None]]
) -> list[dict[str, str]]:
    """Return, for the recipients and the chosen language of each schedule, the language of the
    report by address: users get their own, if they have chosen one. Raises `Forbidden`."""
    caller.require(Permission.REPORT_READ)
    partner = partners.get_own(session, caller)
    everyone = {address for recipients, _ in schedules for address in recipients}
    users = mail_queue.users_at(session, partner.id, everyone)
    user_languages = {
        address: users[address.lower()].language for address in everyone if address.lower() in users
    }
    return [
        {
            address: languages.best_tag((user_languages.get(address), language, partner.language))
            for address in recipients
        }
        for recipients, language in schedules
    ]


def send_due(session: Session, now: datetime, model: ModelRate, figures: Session) -> int:
    """Queue the reports of last month that are due, and plan the next ones; return how many. Their
    figures are read with the session ``figures``."""
    due = session.scalars(
        select(ReportSchedule)
        .where(ReportSchedule.next_at <= now)
        .order_by(ReportSchedule.next_at)
        .limit(A_RUN)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    ).all()
    for schedule in due:
        caller = system_caller("report", schedule.partner_id)
        schedule.next_at = next_time(schedule, now)
        owner = owner_of(session, caller, schedule.organization_id)
        if isinstance(owner, Organization) and owner.status is OrganizationStatus.ARCHIVED:
            continue
        today = now.astimezone(ZoneInfo(schedule.timezone)).date()
        users = mail_queue.users_at(session, schedule.partner_id, schedule.recipients)
        by_tag: dict[str, dict[str, Any]] = {}
        for address in schedule.recipients:
            user = users.get(address.lower())
            of_user = user.language if user else None
            tag = _best_language(session, owner, (of_user, schedule.language))
            if tag not in by_tag:
                by_tag[tag] = _mail_details(figures, caller, owner, today, model, tag)
            mail_queue.enqueue_to_address(
                session,
                MailKind.MONTHLY_REPORT,
                schedule.partner_id,
                address,
                user,
                details=by_tag[tag],
            )
    session.flush()
    return len(due)


def _best_language(
    session: Session, owner: Partner | Organization, preferred: Iterable[str | None]
) -> str:
    """Return the first chosen language, else the partner's."""
    partner_id = owner.id if isinstance(owner, Partner) else owner.partner_id
    return languages.best_tag((*preferred, session.get_one(Partner, partner_id).language))


def _mail_details(
    session: Session,
    caller: Caller,
    owner: Partner | Organization,
    today: date,
    model: ModelRate,
    tag: str,
) -> dict[str, Any]:
    """Return the content of the mail, in the current language."""
    organization_id = owner.id if isinstance(owner, Organization) else None
    with languages.using_language(tag):
        details = details_of(session, caller, owner, organization_id, today, model)
    return {**details, "language": tag}
