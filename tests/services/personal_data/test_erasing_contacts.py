"""After a contact is erased nothing names them but what the inventory declares as kept."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.enums import (
    CallStatus,
    ErasureStatus,
    ExportFormat,
    ImportStatus,
    Role,
)
from app.errors import Forbidden, NotFound
from app.gateways.files import StoredFile
from app.gateways.mailers import open_outbox
from app.jobs.erase_subject import SubjectErasure
from app.models import (
    AuditEntry,
    AuditRedaction,
    Call,
    Contact,
    ContactImport,
    Conversation,
    ConversationDay,
    ImportRow,
    Organization,
    new_id,
)
from app.policy import ROLE_PERMISSIONS
from app.services import campaigns, exports
from app.services.audit import verification
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from app.services.exports import ExportInput
from app.services.personal_data import erasing, subject_rows, subjects
from app.services.personal_data.inventory import HOLDINGS, OnErasure
from tests.fixtures.canaries import files_in, places_in_database
from tests.portal.test_calls import answered, make_call
from tests.services.personal_data.stored_contact import (
    CANARIES,
    FILE,
    FIRST,
    LAST,
    NEIGHBOUR,
    PHONE,
    PLANTED,
    PLANTED_FILES,
    StoredContact,
)


def figures(session: Session) -> list[Any]:
    return [
        session.scalar(select(func.count()).select_from(Call)),
        session.scalar(select(func.count()).select_from(Conversation)),
        sorted(session.scalars(select(ConversationDay.conversations))),
    ]


def retained_columns() -> set[tuple[str, str]]:
    return {
        (holding.table, column)
        for holding in HOLDINGS
        if holding.on_erasure is OnErasure.KEPT
        for column in holding.columns
    }


def test_only_the_do_not_call_list_still_names_an_erased_contact(
    stored_contact: StoredContact, session: Session
) -> None:
    before = figures(session)
    planted = {table for table, _ in places_in_database(session, CANARIES)}
    assert planted == PLANTED
    assert len(files_in(stored_contact.folder, CANARIES)) == len(PLANTED_FILES)
    erasure = stored_contact.erase()
    session.expire_all()
    assert (erasure.status, erasure.sought) == (ErasureStatus.DONE, None)
    left = places_in_database(session, CANARIES)
    assert left == {("do_not_call", "phone")}
    assert left <= retained_columns()
    assert files_in(stored_contact.folder, CANARIES) == set()
    assert figures(session) == before
    assert verification.verify(session).broken is None


def test_other_contacts_keep_their_data(stored_contact: StoredContact, session: Session) -> None:
    stored_contact.erase()
    session.expire_all()
    neighbours = {"contacts", "calls", "webhook_deliveries", "import_rows", "import_changes"}
    neighbours |= {"do_not_call", "audit_entries"}  # listed in one entry with who was erased
    assert {table for table, _ in places_in_database(session, [NEIGHBOUR])} == neighbours


def test_an_erasure_that_runs_again_changes_nothing(
    stored_contact: StoredContact, session: Session
) -> None:
    erasure = stored_contact.erase()
    counts = erasure.counts
    SubjectErasure(
        stored_contact.database,
        stored_contact.files,
        open_outbox(stored_contact.settings),
        erasure.id,
    ).run()
    with stored_contact.database.transaction(read_only=True) as own:
        assert erasing.get(own, stored_contact.admin, erasure.id).counts == counts


def test_a_checked_upload_that_names_the_contact_is_cancelled(
    stored_contact: StoredContact, session: Session
) -> None:
    waiting = stored_contact.importer.check(stored_contact.importer.upload(FILE)).id
    other = stored_contact.importer.check(
        stored_contact.importer.upload("phone\n+12025550999\n")
    ).id
    stored_contact.erase()
    session.expire_all()
    states = {upload.id: upload.status for upload in session.scalars(select(ContactImport))}
    assert (states[waiting], states[other]) == (ImportStatus.CANCELLED, ImportStatus.CHECKED)
    kept_rows = set(session.scalars(select(ImportRow.import_id)))
    applied = next(key for key, state in states.items() if state is ImportStatus.DONE)
    assert kept_rows == {applied, other}


def test_an_erasure_waits_for_calls_in_progress(
    stored_contact: StoredContact, session: Session
) -> None:
    with stored_contact.database.transaction() as own:
        organization = own.get_one(Organization, stored_contact.importer.organization_id)
        active = make_call(own, organization, PHONE, status=CallStatus.IN_PROGRESS).id
        queued = make_call(own, organization, PHONE, status=CallStatus.QUEUED).id
        subject = subjects.contact(
            own,
            stored_contact.admin,
            stored_contact.importer.campaign_id,
            stored_contact.contact_id,
        )
        assert subject_rows.cancel_calls(own, subject) is True
    assert session.get_one(Call, queued).status is CallStatus.CANCELED
    session.execute(update(Call).where(Call.id == active).values(status=CallStatus.COMPLETED))
    session.commit()
    with stored_contact.database.transaction() as own:
        assert subject_rows.cancel_calls(own, subject) is False


def test_the_same_number_in_another_organization_stays(
    stored_contact: StoredContact, session: Session, second_organization: Organization
) -> None:
    campaign = campaigns.create(
        session, stored_contact.admin, second_organization.id, name="Theirs"
    )
    single_contact.add(
        session, stored_contact.admin, campaign.id, ContactFields(FIRST, LAST, PHONE)
    )
    call = make_call(session, second_organization, PHONE, **answered()).id
    session.commit()
    stored_contact.erase()
    session.expire_all()
    stored = select(Contact.campaign_id, Contact.phone).where(Contact.phone == PHONE)
    assert [tuple(row) for row in session.execute(stored)] == [(campaign.id, PHONE)]
    assert session.get_one(Call, call).phone_number == PHONE


@pytest.fixture
def second_organization(stored_contact: StoredContact, session: Session) -> Organization:
    first = session.get_one(Organization, stored_contact.importer.organization_id)
    others = select(Organization).where(
        Organization.partner_id == first.partner_id, Organization.id != first.id
    )
    return session.scalars(others).one()


def test_only_those_with_the_permission_may_erase(stored_contact: StoredContact) -> None:
    without = replace(stored_contact.admin, permissions=ROLE_PERMISSIONS[Role.STANDARD])
    stranger = replace(stored_contact.admin, partner_id=new_id())
    for caller, refusal in ((without, Forbidden), (stranger, NotFound)):
        with stored_contact.database.transaction() as session, pytest.raises(refusal):
            subjects.contact(
                session, caller, stored_contact.importer.campaign_id, stored_contact.contact_id
            )


def test_a_changed_redaction_is_noticed(stored_contact: StoredContact, session: Session) -> None:
    stored_contact.erase()
    session.expire_all()
    redaction = session.scalars(select(AuditRedaction).limit(1)).one()
    forged = insert(AuditRedaction).values(
        entry_id=redaction.entry_id,
        number=redaction.number + 1,
        chain=redaction.chain,
        digest="0" * 64,
        recorded_by=redaction.recorded_by,
    )
    session.execute(forged)
    broken = verification.verify(session).broken
    assert broken is not None
    assert (broken.reason, broken.entry_id) == (
        "The record of a redaction was changed",
        redaction.recorded_by,
    )


def test_a_redacted_entry_can_be_changed_no_further(
    stored_contact: StoredContact, session: Session
) -> None:
    stored_contact.erase()
    session.expire_all()
    entry_id = session.scalars(select(AuditRedaction.entry_id).limit(1)).one()
    again = update(AuditEntry).where(AuditEntry.id == entry_id)
    for values in ({"target": "x"}, {"target": "x", "redacted": AuditEntry.redacted + 1}):
        with pytest.raises(DBAPIError, match="append-only"), session.begin_nested():
            session.execute(again.values(values))


def test_a_contact_that_an_upload_adds_after_the_request_is_erased_too(
    stored_contact: StoredContact, session: Session
) -> None:
    erasure_id = stored_contact.request()
    with stored_contact.database.transaction() as own:
        organization_id = stored_contact.importer.organization_id
        third = campaigns.create(own, stored_contact.admin, organization_id, name="Third").id
        added = ContactFields("Margaretha", "Canarywood", PHONE)
        single_contact.add(own, stored_contact.admin, third, added)
    SubjectErasure(
        stored_contact.database,
        stored_contact.files,
        open_outbox(stored_contact.settings),
        erasure_id,
    ).run()
    session.expire_all()
    assert session.scalars(select(Contact.phone)).all() == [NEIGHBOUR]
    assert places_in_database(session, ("Margaretha",)) == set()


def test_exports_from_before_and_during_the_erasure_keep_no_file(
    stored_contact: StoredContact, session: Session
) -> None:
    """They may read the contact; one that begins later reads what is left."""

    def make(*names: str) -> list[UUID]:
        wanted = [ExportInput(name, "", ExportFormat.CSV, "UTC") for name in names]
        with stored_contact.database.transaction() as own:
            return [exports.create(own, stored_contact.admin, each).id for each in wanted]

    waiting, begun = make("audit", "calls")
    erasure_id = stored_contact.request()
    begun_since, later = make("uploads", "people")
    with stored_contact.database.transaction() as own:
        tasks = [exports.begin(own, each) for each in (begun, begun_since)]
    SubjectErasure(
        stored_contact.database,
        stored_contact.files,
        open_outbox(stored_contact.settings),
        erasure_id,
    ).run()
    with stored_contact.database.transaction() as own:
        file = StoredFile("key", 1, "0")
        for task in filter(None, tasks):
            assert exports.finish(own, task.export.id, task.attempt_number, file, 1) == "key"
        assert exports.begin(own, waiting) is None
        assert exports.begin(own, later) is not None
    with stored_contact.database.transaction(read_only=True) as own:
        counts = erasing.get(own, stored_contact.admin, erasure_id).counts
    assert counts["list_exports"] == 4  # one was made with the contact
