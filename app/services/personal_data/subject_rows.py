"""The rows that are about a single person: the account, the contacts, the calls."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Table, delete, select, update
from sqlalchemy.orm import Session

from app.database import changed_rows
from app.enums import CallStatus, ContactAction, EndedReason
from app.models import (
    ERASED_DOMAIN,
    AuthenticatorApp,
    Base,
    Call,
    CallAttempt,
    CallRecording,
    CallTranscript,
    Campaign,
    Contact,
    EmailChange,
    IdentityRequest,
    Mail,
    OfferedAccount,
    OneTimeLink,
    Passkey,
    PasskeyChallenge,
    PendingSignIn,
    PortalSession,
    ReadNotification,
    RecoveryCode,
    RememberedBrowser,
    SavedView,
    ScimGroup,
    ScimMember,
    ScimUser,
    User,
    UserIdentity,
    VerifiedNumber,
    utcnow,
)
from app.services import campaigns, contacts
from app.services.calls.cancel import cancel_for_contacts
from app.services.calls.lifecycle import end_call
from app.services.calls.states import FINAL, WAITING, lock_call
from app.services.personal_data.subjects import DataSubject

CALL_BATCH = 200
OF_USER: tuple[Any, ...] = (
    PortalSession,
    OfferedAccount,
    EmailChange,
    OneTimeLink,
    AuthenticatorApp,
    RecoveryCode,
    Passkey,
    PasskeyChallenge,
    PendingSignIn,
    RememberedBrowser,
    ReadNotification,
    UserIdentity,
    IdentityRequest,
    ScimMember,
    ScimUser,
    Mail,
)
"""Rows that are deleted with an account: the user's ways to sign in, and mails to the user."""
_EMPTY: dict[str, Any] = {
    "contact": {},
    "call_metadata": {},
    "intro_message": None,
    "voicemail_message": None,
    "call_instructions": None,
    "status_detail": None,
}


def erase_account(session: Session, subject: DataSubject, pseudonym: str) -> dict[str, int]:
    """Reduce a user to a deactivated account under the pseudonym, which sign-up figures count.
    Shared views stay for those who use them. Return what was deleted, by table."""
    counts: dict[str, int] = {}
    groups = (
        select(ScimGroup)
        .join(ScimMember, ScimMember.group_id == ScimGroup.id)
        .where(ScimMember.user_id == subject.subject_id)
        .order_by(ScimGroup.id)
    )
    for group in session.scalars(groups.with_for_update(of=ScimGroup)):
        group.version += 1
    for model in OF_USER:
        theirs = delete(model).where(model.user_id == subject.subject_id)
        counts[model.__tablename__] = changed_rows(session, theirs)
    is_of_user = SavedView.user_id == subject.subject_id
    session.execute(delete(SavedView).where(is_of_user, SavedView.is_shared.is_(False)))
    user = session.get_one(User, subject.subject_id, with_for_update=True)
    user.email = user.email_key = f"{pseudonym}@{ERASED_DOMAIN}"
    user.name = user.idp_uid = user.password_hash = None
    user.timezone = user.theme = user.language = None
    user.notifications = {}
    user.second_factor_at = None
    user.version += 1
    session.flush()
    return counts


def erase_contacts(session: Session, subject: DataSubject) -> int:
    """Remove the contacts from all campaigns, as removing each of them does; return how many."""
    rows = session.scalars(
        select(Contact)
        .where(Contact.id.in_(subject.contacts), Contact.organization_id == subject.organization_id)
        .order_by(Contact.campaign_id)
    ).all()
    for row in rows:
        campaign = session.get_one(Campaign, row.campaign_id)
        campaigns.lock(session, campaign)
        cancel_for_contacts(session, [row.id])
        item = {"phone": row.phone, "email": row.email}
        contacts.apply(session, campaign, [item], ContactAction.REMOVE, contact_id=row.id)
    return len(rows)


def cancel_calls(session: Session, subject: DataSubject) -> bool:
    """Cancel the waiting calls to the contact; return whether one is still in progress."""
    open_ = select(Call.id).where(subject.called(), Call.status.not_in(FINAL)).order_by(Call.id)
    is_active = False
    for call_id in session.scalars(open_).all():
        call = lock_call(session, call_id)
        if call.status in WAITING:
            end_call(session, call, CallStatus.CANCELED, EndedReason.CONTACT_ENDED, at=utcnow())
        else:
            is_active = is_active or not call.status.is_final
    return is_active


def erase_calls(session: Session, subject: DataSubject, pseudonym: str) -> tuple[int, list[str]]:
    """Pseudonymize some ended calls to the contact with their attempts and events, and delete
    recordings and transcripts; return how many calls, and the keys of the recordings' files."""
    is_left = subject.called() & (Call.phone_number != pseudonym) & Call.status.in_(FINAL)
    ids = session.scalars(select(Call.id).where(is_left).limit(CALL_BATCH)).all()
    if not ids:
        return 0, []
    keys = session.scalars(select(CallRecording.file_key).where(CallRecording.call_id.in_(ids)))
    files = [key for key in keys if key]
    attempts = session.scalars(select(CallAttempt.id).where(CallAttempt.call_id.in_(ids))).all()
    for model in (CallRecording, CallTranscript):
        session.execute(delete(model).where(model.call_id.in_(ids)))
    _update_rows(session, "call_attempts", "call_id", ids, {"detail": None, "spoken": None})
    _update_rows(session, "call_events", "call_id", ids, {"detail": None})
    references = [str(each) for each in attempts] + [each.hex for each in attempts]
    _update_rows(session, "simulated_calls", "reference", references, {"to_number": pseudonym})
    # The time of the change stays: an erasure doesn't change the call.
    values = {**_EMPTY, "phone_number": pseudonym, "updated_at": Call.updated_at}
    columns = {getattr(Call, name): value for name, value in values.items()}
    session.execute(
        update(Call)
        .where(Call.id.in_(ids))
        .values(columns)
        .execution_options(synchronize_session=False)
    )
    return len(ids), files


def erase_verified_numbers(session: Session, subject: DataSubject) -> None:
    session.execute(
        delete(VerifiedNumber).where(
            VerifiedNumber.organization_id == subject.organization_id,
            VerifiedNumber.phone.in_(subject.phones),
        )
    )


def _update_rows(
    session: Session, name: str, column: str, ids: Sequence[UUID | str], values: dict[str, Any]
) -> None:
    table: Table = Base.metadata.tables[name]
    session.execute(update(table).where(table.c[column].in_(ids)).values(values))
