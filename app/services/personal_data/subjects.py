"""Data subjects: a user, or a contact in all campaigns of an organization, and how to find them."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, select, union_all
from sqlalchemy.orm import Session

from app.enums import SubjectKind
from app.errors import NotFound
from app.languages import gettext
from app.models import AuditEntry, Call, Campaign, Contact, EmailChange, Erasure, ScimUser, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import calls, campaigns, contacts, users
from app.services.personal_data.search_terms import SubjectWords
from app.services.tenancy import get_organization

MAX_CONTACTS = 1000
"""Maximum contacts of one data subject in an organization, one per campaign."""


@dataclass(frozen=True, slots=True)
class DataSubject:
    """``contacts`` are the ids of the subject's rows. ``organization_id`` is None for users: they
    are searched in all data of their partner."""

    kind: SubjectKind
    subject_id: UUID
    partner_id: UUID
    organization_id: UUID | None
    phones: Sequence[str] = ()
    emails: Sequence[str] = ()
    names: Sequence[str] = ()
    contacts: Sequence[UUID] = ()

    @property
    def search_terms(self) -> SubjectWords:
        return SubjectWords(self.phones, self.emails, self.names)

    def called(self) -> ColumnElement[bool]:
        """Return the condition of calls to the contact."""
        is_own = Call.organization_id == self.organization_id
        # Not a single "or", for which the databases read all calls of the organization.
        to_them = union_all(
            select(Call.id).where(is_own, Call.phone_number.in_(self.phones)),
            select(Call.id).where(Call.contact_id.in_(self.contacts)),
        )
        return is_own & Call.id.in_(to_them)

    def stored(self) -> dict[str, Any]:
        """Return the searched words, as an erasure stores them until it is done."""
        fields = ("phones", "emails", "names", "contacts")
        return {name: [str(each) for each in asdict(self)[name]] for name in fields}


def of_erasure(erasure: Erasure) -> DataSubject:
    """Return the subject of an unfinished erasure."""
    sought = erasure.sought or {}
    if erasure.partner_id is None:
        message = "an erasure without a partner"
        raise ValueError(message)
    return DataSubject(
        erasure.kind,
        erasure.subject_id,
        erasure.partner_id,
        erasure.organization_id if erasure.kind is SubjectKind.CONTACT else None,
        sought.get("phones", ()),
        sought.get("emails", ()),
        sought.get("names", ()),
        [UUID(each) for each in sought.get("contacts", ())],
    )


def user(session: Session, caller: Caller, user_id: UUID) -> DataSubject:
    """Return a user of a partner, with all earlier names and addresses. Raises `Forbidden` and
    `NotFound`."""
    caller.require(Permission.PERSONAL_DATA)
    account = users.get(session, caller, user_id)
    if account.partner_id is None:
        raise NotFound(gettext("There is no such user."), "user_not_found")
    emails, names = {account.email}, {account.name or ""}
    elsewhere = (
        select(EmailChange.email, ScimUser.given_name, ScimUser.family_name)
        .select_from(User)
        .outerjoin(EmailChange, EmailChange.user_id == User.id)
        .outerjoin(ScimUser, ScimUser.user_id == User.id)
        .where(User.id == account.id)
    )
    for email, given_name, family_name in session.execute(elsewhere):
        emails.add(email or "")
        names.add(f"{given_name or ''} {family_name or ''}".strip())
    history = select(AuditEntry.before, AuditEntry.after).where(
        AuditEntry.target_type == "user", AuditEntry.target_id == str(account.id)
    )
    for sides in session.execute(history):
        for side in sides:
            emails.add((side or {}).get("email") or "")
            names.add((side or {}).get("name") or "")
    return DataSubject(
        SubjectKind.USER,
        account.id,
        account.partner_id,
        None,
        emails=_sorted_texts(emails),
        names=_sorted_texts(names),
    )


def contact(session: Session, caller: Caller, campaign_id: UUID, contact_id: UUID) -> DataSubject:
    """Return everyone in the organization with the contact's number or address: the same person in
    other campaigns. Raises `Forbidden` and `NotFound`."""
    stored = contacts.get(session, caller, campaign_id, contact_id)
    campaign = campaigns.get(session, caller, campaign_id)
    tenant = campaign.partner_id, campaign.organization_id
    return _build_subject(session, caller, tenant, stored.id, {stored.phone}, {stored.email})


def of_call(session: Session, caller: Caller, call_id: UUID) -> DataSubject:
    """As `contact`, of someone who was called, contact or not. Raises `Forbidden` and
    `NotFound`, also for a call that an erasure has emptied."""
    stored = calls.get(session, caller, call_id)
    if stored.is_erased:
        raise NotFound(gettext("The data of this call was erased."), "call_erased")
    called_contact = session.get(Contact, stored.contact_id) if stored.contact_id else None
    subject = _build_subject(
        session,
        caller,
        (stored.partner_id, stored.organization_id),
        stored.id,
        {stored.phone_number, called_contact.phone if called_contact else None},
        {stored.contact.get("email"), called_contact.email if called_contact else None},
    )
    to_them = session.scalars(select(Call).where(subject.called()))
    return replace(subject, names=_sorted_texts({*subject.names, *(call.name for call in to_them)}))


def contact_called(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    *,
    phone: str | None,
    email: str | None,
    subject_id: UUID,
) -> DataSubject:
    """As `contact`, by number (E.164) or address; also for a called person who isn't a contact any
    more. Raises `Forbidden` and `NotFound`."""
    tenant = get_organization(session, caller, organization_id).partner_id, organization_id
    return _build_subject(session, caller, tenant, subject_id, {phone}, {email})


def _build_subject(
    session: Session,
    caller: Caller,
    tenant: tuple[UUID, UUID],
    subject_id: UUID,
    phones: Collection[str | None],
    emails: Collection[str | None],
) -> DataSubject:
    """Build it from a record of the ``tenant``, a partner and its organization, that the caller may
    see."""
    caller.require(Permission.PERSONAL_DATA)
    subject = DataSubject(
        SubjectKind.CONTACT,
        subject_id,
        *tenant,
        _sorted_texts(phones),
        _sorted_texts(emails),
    )
    return with_contacts(session, subject)


def with_contacts(
    session: Session, subject: DataSubject, since: datetime | None = None
) -> DataSubject:
    """Return the subject with the contacts added after ``since`` that have its numbers or
    addresses."""
    keys = [each.casefold() for each in subject.emails]
    of_organization = Contact.campaign_id.in_(
        select(Campaign.id).where(Campaign.organization_id == subject.organization_id)
    )
    is_theirs = (Contact.phone.in_(subject.phones), Contact.email_key.in_(keys))
    # Not one condition with "or": no index serves it.
    ids = union_all(*(select(Contact.id).where(of_organization, each) for each in is_theirs))
    query = select(Contact).where(Contact.id.in_(ids))
    if since is not None:
        query = query.where(Contact.created_at > since)
    rows = session.scalars(query.order_by(Contact.id).limit(MAX_CONTACTS)).all()
    names = {f"{row.first_name or ''} {row.last_name or ''}".strip() for row in rows}
    return replace(
        subject,
        phones=_sorted_texts({*subject.phones, *(row.phone for row in rows)}),
        emails=_sorted_texts({*subject.emails, *(row.email for row in rows)}),
        names=_sorted_texts({*subject.names, *names}),
        contacts=sorted({*subject.contacts, *(row.id for row in rows)}),
    )


def _sorted_texts(values: Collection[str | None]) -> list[str]:
    return sorted(text for text in values if text)
