"""Preview the effects of undoing an upload now."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Text, cast, func, or_, select
from sqlalchemy.orm import Session, aliased

from app.models import Campaign, Contact, ContactExternalId, ContactImport, ImportChange
from app.services import campaigns
from app.services.contacts.results import CREATED, DELETED, UPDATED, UndoStep
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
    count_erased,
    fields_left_by,
    steps_left,
)

MAX_TRIED_CHANGES = 2000
"""Maximum changes that the preview of an undo tries out; larger uploads get an estimate."""


def preview(session: Session, upload: ContactImport) -> tuple[UndoTotals, list[list[UndoStep]]]:
    """Return the effects of undoing, and for each of `FIGURES` the last change of its contacts, in
    the order of the file; no contacts with an estimate."""
    changes = select(func.count()).where(ImportChange.import_id == upload.id)
    if (session.scalar(changes) or 0) > MAX_TRIED_CHANGES:
        return _estimate(session, upload), [[] for _ in FIGURES]
    steps = steps_left(session, upload)
    campaign = session.get_one(Campaign, upload.campaign_id)
    fields_left = fields_left_by(session, upload, steps)
    undone = undo(session, campaign, steps, left_before=fields_left, dry_run=True)
    totals = replace(_totals_of(undone, fields_left), erased=count_erased(session, upload.id))
    return totals, [_last_changes(undone, outcomes) for outcomes in FIGURES]


def _last_changes(undone: Sequence[UndoneChange], outcomes: Collection[str]) -> list[UndoStep]:
    """Return the last change of each contact with such an outcome; ``undone`` begins with the last
    row."""
    chronological = undone[::-1]
    created = _created_ids(undone)
    changed_ids = {change.step.contact_id for change in undone if change.outcome != UNCHANGED}
    latest = {change.step.contact_id: change.step for change in chronological}
    ids = dict.fromkeys(
        change.step.contact_id
        for change in chronological
        if change.outcome in outcomes
        and (change.outcome != UNCHANGED or change.step.contact_id not in changed_ids)
        and (change.step.action == CREATED or change.step.contact_id not in created)
    )
    return [latest[contact_id] for contact_id in ids]


def _created_ids(undone: Sequence[UndoneChange]) -> set[str]:
    return {change.step.contact_id for change in undone if change.step.action == CREATED}


def _totals_of(undone: list[UndoneChange], left_before: Collection[str]) -> UndoTotals:
    """Return the same as `undo.totals_of`, for changes that were tried out; contacts
    ``left_before`` by an undo that stopped are not counted again as unchanged."""
    outcomes = Counter(change.outcome for change in undone)
    created = _created_ids(undone)
    updated = [change for change in undone if change.step.action == UPDATED]
    of_others = [change for change in updated if change.step.contact_id not in created]

    def contacts(*selected: str) -> int:
        return len({change.step.contact_id for change in of_others if change.outcome in selected})

    changed_ids = {change.step.contact_id for change in of_others if change.outcome != UNCHANGED}
    created_gone = sum(change.outcome == GONE for change in undone if change.step.action == CREATED)
    return UndoTotals(
        removed=outcomes[REMOVED] + outcomes[REMOVED_CHANGED],
        removed_changed=outcomes[REMOVED_CHANGED],
        restored=contacts(RESTORED, PARTLY),
        brought_back=outcomes[BROUGHT_BACK],
        contacts_left=contacts(LEFT, PARTLY),
        fields_left=sum(fields_differing(change.fields_left) for change in of_others),
        gone=contacts(GONE) + created_gone,
        taken=outcomes[TAKEN],
        unchanged=len(
            {change.step.contact_id for change in of_others} - changed_ids - {*left_before}
        ),
    )


def _estimate(session: Session, upload: ContactImport) -> UndoTotals:
    """Return the estimate for many changes: which contacts still exist, and which were changed
    since."""
    of_upload = (ImportChange.import_id == upload.id) & CAN_BE_UNDONE
    if upload.undo_from_row is not None:
        of_upload &= ImportChange.row_number < upload.undo_from_row
    contacts = func.count(ImportChange.contact_id.distinct())
    created = select(ImportChange.contact_id).where(of_upload, ImportChange.action == CREATED)
    latest = select(func.max(ImportChange.row_number)).where(of_upload)
    is_latest = ImportChange.row_number.in_(latest.group_by(ImportChange.contact_id))

    def count(
        action: str, *, present: bool = False, since: bool = False, changed: bool = False
    ) -> int:
        query = select(contacts).where(of_upload, ImportChange.action == action)
        if changed:
            query = query.where(cast(ImportChange.before, Text) != cast(ImportChange.after, Text))
        if action == UPDATED:
            query = query.where(ImportChange.contact_id.not_in(created))
        if present or since:
            query = query.join(Contact, Contact.id == ImportChange.contact_id)
        if since:
            query = query.where(
                Contact.updated_at > upload.finished_at, is_latest, _contact_differs()
            )
        return session.scalar(query) or 0

    removed, updated = count(CREATED, present=True), count(UPDATED, present=True)
    restored = count(UPDATED, present=True, changed=True)
    deleted = select(func.count()).where(of_upload, ImportChange.action == DELETED)
    taken_count = session.scalar(deleted.where(_taken_by_another(session, upload))) or 0
    return UndoTotals(
        removed=removed,
        removed_changed=count(CREATED, since=True),
        restored=restored,
        brought_back=count(DELETED) - taken_count,
        contacts_left=count(UPDATED, since=True),
        gone=count(CREATED) - removed + count(UPDATED) - updated,
        taken=taken_count,
        erased=count_erased(session, upload.id),
        unchanged=updated - restored,
        estimated=True,
    )


def _taken_by_another(session: Session, upload: ContactImport) -> ColumnElement[bool]:
    """Return whether another contact has the number, the address or an id of a removed one."""
    before, another = ImportChange.before, aliased(Contact)
    contacts = select(another.id).where(another.campaign_id == upload.campaign_id)
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
        contacts.where(another.phone == before["phone"].as_string()).exists(),
        contacts.where(another.email_key == func.lower(before["email"].as_string())).exists(),
        *(
            ids.where(ContactExternalId.key == key, ContactExternalId.value == value).exists()
            for key, value in values.items()
        ),
    )


def _contact_differs() -> ColumnElement[bool]:
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
