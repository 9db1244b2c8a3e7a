"""The storage of partners and organizations: counted, limited, and released."""

from dataclasses import replace

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.enums import ImageType, ImportStatus, Role
from app.errors import Conflict, Forbidden, NotFound, TooLarge
from app.jobs.purging import delete_upload
from app.models import BrandImage, ContactImport, OutsidePicture, utcnow
from app.services import organizations, storage
from app.services.imports import deletion, undo, uploads
from app.services.imports.pipeline import check_file
from tests.fixtures.tenants import OPERATOR, make_tenant
from tests.fixtures.uploads import Importer, number

FILE = f"Name,Phone\nAnn,{number(1)}\nBob,12\n"
DEFAULTS = StorageDefaults(partner=10_000, organization=5_000)


def used(importer: Importer, defaults: StorageDefaults = DEFAULTS) -> tuple[int, int]:
    """Of the organization and of its partner."""
    with importer.database.transaction(read_only=True) as session:
        partner_id = importer.caller.partner_id
        assert partner_id is not None
        own = organizations.get(session, importer.caller, importer.organization_id)
        return (
            storage.of_organization(session, own, defaults).used,
            storage.of_partner(session, importer.caller, partner_id, defaults).used,
        )


def refusal(importer: Importer, size: int, defaults: StorageDefaults = DEFAULTS) -> str | None:
    with importer.database.transaction(read_only=True) as session:
        try:
            uploads.require_room(session, importer.caller, importer.campaign_id, size, defaults)
        except TooLarge as error:
            return f"{error.code}: {error.message}".replace("\u00a0", " ")
    return None


def test_files_rows_undo_log_and_pictures_count_until_they_are_deleted(importer: Importer) -> None:
    assert used(importer) == (0, 0)
    upload_id = importer.upload(FILE)
    assert used(importer) == (len(FILE), len(FILE))
    rows = importer.check(upload_id).stored_bytes
    assert rows is not None
    assert rows > 400
    assert used(importer) == (len(FILE) + rows,) * 2
    applied = importer.apply(upload_id).stored_bytes
    assert applied is not None
    assert applied > rows + 150
    with importer.database.transaction() as session:
        session.add(
            BrandImage(
                partner_id=importer.caller.partner_id,
                type="logo",
                sha256="0" * 64,
                content_type="image/png",
                width=1,
                height=1,
                size=70,
                data=b"",
            )
        )
    assert used(importer) == (len(FILE) + applied, len(FILE) + applied + 70)
    with importer.database.transaction() as session:
        deletion.delete_data(session, importer.caller, upload_id)
    assert used(importer) == (len(FILE), len(FILE) + 70)
    delete_upload(importer.database, importer.files, upload_id)
    assert used(importer) == (0, 70)


def test_the_storage_of_all_is_that_of_each_partner_together(importer: Importer) -> None:
    importer.upload(FILE)
    with importer.database.transaction() as session:
        session.add(
            OutsidePicture(
                partner_id=importer.caller.partner_id,
                kind=ImageType.LOGO,
                url="https://example.com/logo.png",
                asked_at=utcnow(),
                size=30,
            )
        )
        session.flush()
        partners = storage.of_partners(session, OPERATOR, DEFAULTS)
        total = sum(usage.used for _, usage in partners)
        assert storage.used_by_all(session, OPERATOR) == total == len(FILE) + 30


def test_a_file_over_the_limit_of_the_organization_or_the_partner_is_refused(
    importer: Importer,
) -> None:
    assert [refusal(importer, size) for size in (5_000, 5_001)] == [
        None,
        (
            "storage_limit_reached: The organization uses 0.0 MB of its 0.0 MB of storage. "
            "This file needs 0.0 MB. Delete the data of old uploads, or ask for a higher limit."
        ),
    ]
    larger = StorageDefaults(partner=1_000_000, organization=2_000_000)
    assert [refusal(importer, size, larger) for size in (1_000_000, 1_500_000)] == [
        None,
        (
            "storage_limit_reached: The partner uses 0.0 MB of its 1.0 MB of storage. "
            "This file needs 1.5 MB. Delete the data of old uploads, or ask for a higher limit."
        ),
    ]


def test_limits_of_their_own_replace_those_of_the_installation(importer: Importer) -> None:
    partner_id = importer.caller.partner_id
    assert partner_id is not None
    with importer.database.transaction() as session:
        storage.change_organization_limit(session, importer.caller, importer.organization_id, 7_000)
    assert refusal(importer, 7_000) is None
    assert refusal(importer, 7_001) is not None
    with importer.database.transaction() as session:
        storage.change_partner_limit(session, OPERATOR, partner_id, 6_000)
    assert refusal(importer, 6_001) is not None
    with importer.database.transaction() as session:
        storage.change_partner_limit(session, OPERATOR, partner_id, None)
        storage.change_organization_limit(session, importer.caller, importer.organization_id, None)
    assert refusal(importer, 5_000) is None
    assert refusal(importer, 5_001) is not None


def test_members_and_other_partners_set_no_limit(session: Session) -> None:
    tenant, other_tenant = make_tenant(session, "Northwind"), make_tenant(session, "Southgate")
    organization_id, partner_id = tenant.organization.id, tenant.partner.id
    admin = tenant.caller(Role.PARTNER_ADMIN)
    member = replace(admin, organization_id=organization_id)
    stranger = other_tenant.caller(Role.PARTNER_ADMIN)
    with pytest.raises(Forbidden):
        storage.change_organization_limit(session, member, organization_id, 1)
    with pytest.raises(NotFound):
        storage.change_organization_limit(session, stranger, organization_id, 1)
    with pytest.raises(Forbidden):
        storage.change_partner_limit(session, admin, partner_id, 1)
    assert (tenant.organization.storage_limit, tenant.partner.storage_limit) == (None, None)


def test_a_check_fails_with_a_sentence_if_the_storage_is_full(importer: Importer) -> None:
    upload_id = importer.upload(FILE)
    full = StorageDefaults(partner=10_000, organization=len(FILE) - 1)
    check_file(importer.database, importer.files, upload_id, 1, storage_defaults=full)
    now = importer.now(upload_id)
    assert (now.status, now.failure) == (ImportStatus.FAILED, storage.STORAGE_FULL)
    assert importer.rows(upload_id) == []


def test_deleting_data_keeps_contacts_figures_and_history(importer: Importer) -> None:
    upload = importer.apply(importer.checked(FILE).id)
    assert (deletion.can_be_deleted(upload), undo.can_be_undone(upload, 7)) == (True, True)
    with importer.database.transaction() as session:
        deletion.delete_data(session, importer.caller, upload.id)
    asked = importer.now(upload.id)
    assert (deletion.can_be_deleted(asked), undo.can_be_undone(asked, 7)) == (False, False)
    delete_upload(importer.database, importer.files, upload.id)
    now = importer.now(upload.id)
    assert (now.file_key, now.stored_bytes, now.deletion_requested_at) == ("", 0, None)
    with pytest.raises(FileNotFoundError):
        importer.files.open(upload.file_key)
    assert importer.rows(upload.id) == []
    assert importer.people() == [("Ann", number(1), None)]
    assert (now.created, now.failed, now.status) == (1, 1, ImportStatus.DONE)


def test_uploads_in_progress_keep_their_data(importer: Importer) -> None:
    upload_id = importer.checked(FILE).id
    with pytest.raises(Conflict), importer.database.transaction() as session:
        deletion.delete_data(session, importer.caller, upload_id)
    assert len(importer.rows(upload_id)) == 2


def test_uploads_of_an_earlier_version_are_measured_as_new_ones_are(importer: Importer) -> None:
    upload = importer.apply(importer.checked(FILE * 40).id)
    assert upload.stored_bytes is not None
    with importer.database.transaction() as session:
        session.execute(update(ContactImport).values(stored_bytes=None))
        assert deletion.next_unmeasured(session) == upload.id
        deletion.measure(session, upload.id)
        assert deletion.next_unmeasured(session) is None
    measured = importer.now(upload.id).stored_bytes
    assert measured == pytest.approx(upload.stored_bytes, rel=0.35)
