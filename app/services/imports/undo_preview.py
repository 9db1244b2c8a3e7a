"""Preview the effects of undoing an upload now."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Text, cast, func, or_, select
from sqlalchemy.orm import Session, aliased

from app.models import Campaign, Contact, ContactExternalId, ContactImport, ImportChange
from app.services import campaigns
from app.services.contacts.results import CREATED, DELETED, UPDATED, ContactChange
from app.services.contacts.undo import (
    BROUGHT_BACK,
    GONE,
    LEFT,
    PARTLY,
    REMOVED,
    REMOVED_CHANGED,
    RESTORED,
    TAKEN,
    UNCHANGED,
    UndoneChange,
    fields_differing,
    undo,
)
from app.services.imports.undo import (
    CAN_BE_UNDONE,
    FIGURES,
    UndoTotals,
    erased,
    fields_left_by,
    steps_left,
)

WORKED_OUT_AT_ONCE = 2000
"""Maximum changes that the preview of an undo tries out; larger uploads get an estimate."""


def preview(
    session: Session, upload: ContactImport
) -> tuple[UndoTotals, list[list[ContactChange]]]:
    """Return the effects of undoing, and for each of `FIGURES` the last change of its contacts, in
    the order of the file; no contacts with an estimate."""
    changes = select(func.count()).where(ImportChange.import_id == upload.id)
    if (session.scalar(changes) or 0) > WORKED_OUT_AT_ONCE:
        return _estimate(session, upload), [[] for _ in FIGURES]
    steps = steps_left(session, upload)
    campaign = session.get_one(Campaign, upload.campaign_id)
    left = fields_left_by(session, upload, steps)
    undone = undo(session, campaign, steps, left_before=left, dry_run=True)
    sums = replace(_sums_of(undone, left), erased=erased(session, upload.id))
    return sums, [_contacts(undone, outcomes) for outcomes in FIGURES]


def _contacts(undone: Sequence[UndoneChange], outcomes: Collection[str]) -> list[ContactChange]:
    """Return the last change of each contact with such an outcome; ``undone`` begins with the last
    row."""
    in_order = undone[::-1]
    created = _created(undone)
    otherwise = {one.step.contact_id for one in undone if one.outcome != UNCHANGED}
    latest = {one.step.contact_id: one.step for one in in_order}
    ids = dict.fromkeys(
        one.step.contact_id
        for one in in_order
        if one.outcome in outcomes
        and (one.outcome != UNCHANGED or one.step.contact_id not in otherwise)
        and (one.step.action == CREATED or one.step.contact_id not in created)
    )
    return [latest[contact_id] for contact_id in ids]


def _created(undone: Sequence[UndoneChange]) -> set[str]:
    return {one.step.contact_id for one in undone if one.step.action == CREATED}


def _sums_of(undone: list[UndoneChange], left_before: Collection[str]) -> UndoTotals:
    """Return the same as `undo.sums`, for changes that were tried out; contacts ``left_before`` by
    an undo that stopped are not counted again as unchanged."""
    outcomes = Counter(one.outcome for one in undone)
    created = _created(undone)
    updated = [one for one in undone if one.step.action == UPDATED]
    of_others = [one for one in updated if one.step.contact_id not in created]

    def contacts(*wanted: str) -> int:
        return len({one.step.contact_id for one in of_others if one.outcome in wanted})

    otherwise = {one.step.contact_id for one in of_others if one.outcome != UNCHANGED}
    gone = sum(one.outcome == GONE for one in undone if one.step.action == CREATED)
    return UndoTotals(
        removed=outcomes[REMOVED] + outcomes[REMOVED_CHANGED],
        removed_changed=outcomes[REMOVED_CHANGED],
        restored=contacts(RESTORED, PARTLY),
        brought_back=outcomes[BROUGHT_BACK],
        contacts_left=contacts(LEFT, PARTLY),
        fields_left=sum(fields_differing(one.fields_left) for one in of_others),
        gone=contacts(GONE) + gone,
        taken=outcomes[TAKEN],
        unchanged=len({one.step.contact_id for one in of_others} - otherwise - {*left_before}),
    )


def _estimate(session: Session, upload: ContactImport) -> UndoTotals:
    """Return the estimate for many changes: which contacts still exist, and which were changed
    since."""
    own = (ImportChange.import_id == upload.id) & CAN_BE_UNDONE
    if upload.undo_from_row is not None:
        own &= ImportChange.row_number < upload.undo_from_row
    contacts = func.count(ImportChange.contact_id.distinct())
    created = select(ImportChange.contact_id).where(own, ImportChange.action == CREATED)
    latest = select(func.max(ImportChange.row_number)).where(own)
    is_latest = ImportChange.row_number.in_(latest.group_by(ImportChange.contact_id))

    def count(
        action: str, *, present: bool = False, since: bool = False, changed: bool = False
    ) -> int:
        query = select(contacts).where(own, ImportChange.action == action)
        if changed:
            query = query.where(cast(ImportChange.before, Text) != cast(ImportChange.after, Text))
        if action == UPDATED:
            query = query.where(ImportChange.contact_id.not_in(created))
        if present or since:
            query = query.join(Contact, Contact.id == ImportChange.contact_id)
        if since:
            query = query.where(Contact.updated_at > upload.finished_at, is_latest, _differs())
        return session.scalar(query) or 0

    removed, updated = count(CREATED, present=True), count(UPDATED, present=True)
    restored = count(UPDATED, present=True, changed=True)
    taken = select(func.count()).where(own, ImportChange.action == DELETED)
    held = session.scalar(taken.where(_taken_by_another(session, upload))) or 0
    return UndoTotals(
        removed=removed,
        removed_changed=count(CREATED, since=True),
        restored=restored,
        brought_back=count(DELETED) - held,
        contacts_left=count(UPDATED, since=True),
        gone=count(CREATED) - removed + count(UPDATED) - updated,
        taken=held,
        erased=erased(session, upload.id),
        unchanged=updated - restored,
        estimated=True,
    )


def _taken_by_another(session: Session, upload: ContactImport) -> ColumnElement[bool]:
    """Return whether another contact has the number, the address or an id of a removed one."""
    before, another = ImportChange.before, aliased(Contact)
    own = select(another.id).where(another.campaign_id == upload.campaign_id)
    ids = select(ContactExternalId.contact_id).where(
        ContactExternalId.campaign_id == upload.campaign_id, ContactExternalId.identifies
    )
    campaign = session.get_one(Campaign, upload.campaign_id)
    values = {
        key: before["externalIds"][key]["value"].as_string()
        for key, identifies in campaigns.external_id_keys(session, campaign).items()
        if identifies
    }
    return or_(
        own.where(another.phone == before["phone"].as_string()).exists(),
        own.where(another.email_key == func.lower(before["email"].as_string())).exists(),
        *(
            ids.where(ContactExternalId.key == key, ContactExternalId.value == value).exists()
            for key, value in values.items()
        ),
    )


def _differs() -> ColumnElement[bool]:
    """Return whether a contact differs from what the upload wrote, apart from external ids."""
    after = ImportChange.after
    columns = {
        "phone": Contact.phone,
        "email": Contact.email,
        "firstName": Contact.first_name,
        "lastName": Contact.last_name,
        "status": Contact.status,
        "metadata": cast(Contact.contact_metadata, Text),
    }
    return or_(
        *(after[name].as_string().is_distinct_from(column) for name, column in columns.items())
    )
