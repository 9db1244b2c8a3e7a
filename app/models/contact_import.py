"""Uploaded contact files: the file, its rows, their problems, and the changes made."""

from typing import Annotated, Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import ContactAction, ImportStatus
from app.models.base import (
    Base,
    Created,
    Hash,
    Id,
    Json,
    Line,
    Name,
    Short,
    Time,
    Updated,
    enum_column,
    partial_index,
    tenant_key,
)

STORED = text("(file_key <> '' OR stored_bytes <> 0 OR stored_bytes IS NULL)")
"""Uploads that count as used storage."""
ImportId = Annotated[UUID, mapped_column(ForeignKey("contact_imports.id", ondelete="CASCADE"))]


class ContactImport(Base):
    """One uploaded file on its way into a campaign.

    The five counts are those of the check until applying begins, and then the numbers so far;
    ``expected`` keeps those of the check. Their sum is ``rows_total`` when nothing is left to
    apply. ``rows_applied`` and ``applied_to_row`` are the progress of applying. ``mapping`` has one
    target per column (see `app.services.imports.mapping.ColumnTarget`), ``found`` is how the file
    was read, ``repairs`` the kinds of damage whose repair a user has accepted. ``check_run`` names
    the one run of the check that may write. ``lease_until`` is set while a command works on it by
    itself (see `app.services.imports.steps`), ``apply_when_checked`` if it needs no confirmation.

    ``undo_status`` is absent until an undo is requested, then ``undoing``, ``undone`` or
    ``stopped``; ``undo_changes`` is how many changes there are to undo, ``undo_done`` how many have
    been, the last ones first, down to ``undo_from_row``; ``undo_result`` is its result.

    ``corrects_id`` is the upload whose failed rows this file corrects, ``rows_fixed`` how many of
    the own ``failed`` rows such files have fixed (see `app.services.imports.corrected_files`).

    ``packed`` counts the rows and notes that are in blocks (`app.services.imports.packing`), None
    if there are none. ``stored_bytes`` is the size of rows, problems and undo log, without the
    file; None until the worker has measured an upload of an earlier version.
    ``deletion_requested_at`` is set while the worker deletes rows and undo log: early, with the
    file, or after their days.
    """

    __tablename__ = "contact_imports"
    __table_args__ = (
        tenant_key("campaigns", "organization_id", "campaign_id"),
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("organization_id", "id"),
        Index("ix_contact_imports_campaign", "campaign_id", "id"),
        Index("ix_contact_imports_partner", "partner_id", "id"),
        Index("ix_contact_imports_partner_file", "partner_id", "file_name", "id"),
        Index("ix_contact_imports_partner_rows", "partner_id", "rows_total", "id"),
        Index("ix_contact_imports_partner_failed", "partner_id", "failed", "id"),
        Index("ix_contact_imports_partner_state", "partner_id", "state", "id"),
        Index("ix_contact_imports_partner_author", "partner_id", "author", "id"),
        partial_index("ix_contact_imports_stored", "partner_id", "organization_id", where=STORED),
        partial_index("ix_contact_imports_leased", "lease_until", where="lease_until IS NOT NULL"),
    )

    id: Mapped[Id]
    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    campaign_id: Mapped[UUID]
    created_by: Mapped[UUID | None]
    author: Mapped[Name]
    status: Mapped[ImportStatus] = mapped_column("state", enum_column(ImportStatus, "importstate"))
    action: Mapped[ContactAction] = mapped_column(enum_column(ContactAction))
    file_name: Mapped[Name]
    file_size: Mapped[int]
    file_sha256: Mapped[Hash] = mapped_column(index=True)
    file_key: Mapped[Name]
    file_kind: Mapped[Short | None]
    check_number: Mapped[int] = mapped_column(default=0)
    check_run: Mapped[UUID | None]
    apply_number: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[Time | None]
    apply_when_checked: Mapped[bool] = mapped_column(default=False, server_default=false())
    read_options: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    found: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    columns: Mapped[list[str]] = mapped_column(Json, default=list)
    samples: Mapped[list[list[str]]] = mapped_column(Json, default=list)
    mapping: Mapped[list[str]] = mapped_column(Json, default=list)
    repairs: Mapped[list[str]] = mapped_column(Json, default=list)
    campaign_revision: Mapped[int] = mapped_column(default=0)
    rows_total: Mapped[int] = mapped_column(default=0)
    rows_skipped: Mapped[int] = mapped_column(default=0)
    rows_applied: Mapped[int] = mapped_column(default=0)
    applied_to_row: Mapped[int] = mapped_column(default=0)
    created: Mapped[int] = mapped_column(default=0)
    updated: Mapped[int] = mapped_column(default=0)
    deleted: Mapped[int] = mapped_column(default=0)
    ignored: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    expected: Mapped[dict[str, int] | None] = mapped_column(Json)
    failure: Mapped[str | None] = mapped_column(Text)
    cancel_requested_at: Mapped[Time | None]
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]
    checked_at: Mapped[Time | None]
    apply_started_at: Mapped[Time | None]
    finished_at: Mapped[Time | None]
    undo_status: Mapped[Short | None] = mapped_column("undo_state")
    undo_author: Mapped[Name | None]
    undo_number: Mapped[int] = mapped_column(default=0, server_default="0")
    undo_from_row: Mapped[int | None]
    undo_changes: Mapped[int] = mapped_column(default=0, server_default="0")
    undo_done: Mapped[int] = mapped_column(default=0, server_default="0")
    undo_result: Mapped[dict[str, Any] | None] = mapped_column(Json)
    undo_started_at: Mapped[Time | None]
    undone_at: Mapped[Time | None]
    rows_forgotten_at: Mapped[Time | None]
    packed: Mapped[dict[str, Any] | None] = mapped_column(Json)
    stored_bytes: Mapped[int | None] = mapped_column(BigInteger)
    deletion_requested_at: Mapped[Time | None]
    corrects_id: Mapped[UUID | None]
    rows_fixed: Mapped[int] = mapped_column(default=0, server_default="0")


class ImportRow(Base):
    """A row with data: the user's own values, and the row's outcome.

    ``contact`` is absent if the row itself can't be used. ``code`` and ``reason`` say why it was
    ignored or failed.
    """

    __tablename__ = "import_rows"
    __table_args__ = (Index("ix_import_rows_outcome", "import_id", "outcome", "row_number"),)

    import_id: Mapped[ImportId] = mapped_column(primary_key=True)
    row_number: Mapped[int] = mapped_column(primary_key=True)
    cells: Mapped[list[str]] = mapped_column(Json)
    contact: Mapped[dict[str, Any] | None] = mapped_column(Json)
    outcome: Mapped[Short]
    code: Mapped[Short | None]
    reason: Mapped[Short | None]
    assumed_country: Mapped[bool] = mapped_column(default=False, server_default=false())


class ImportProblem(Base):
    """A problem, or a note, about one cell (or one row) of an import."""

    __tablename__ = "import_problems"
    __table_args__ = (Index("ix_import_problems_code", "import_id", "code", "row_number"),)

    import_id: Mapped[ImportId] = mapped_column(primary_key=True)
    row_number: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    column_index: Mapped[int | None]
    code: Mapped[Short]
    reason: Mapped[Short | None]
    field: Mapped[Short | None]
    message: Mapped[Line]
    is_warning: Mapped[bool] = mapped_column(default=False)
    repair: Mapped[Line | None]


class ImportBlock(Base):
    """Rows and problems that are not listed one by one: see `app.services.imports.packing`.

    ``row_number`` and ``last_row`` are the first and the last of its rows in the file.
    """

    __tablename__ = "import_blocks"

    import_id: Mapped[ImportId] = mapped_column(primary_key=True)
    row_number: Mapped[int] = mapped_column(primary_key=True)
    last_row: Mapped[int]
    content: Mapped[bytes] = mapped_column(LargeBinary)


class ImportCorrection(Base):
    """A user's corrections of a row on the check screen, by the index of the column as text.

    ``was`` has the cells as they were read: if the file is read differently, they no longer match,
    and the correction isn't applied. ``skipped`` rows are left out.
    """

    __tablename__ = "import_corrections"

    import_id: Mapped[ImportId] = mapped_column(primary_key=True)
    row_number: Mapped[int] = mapped_column(primary_key=True)
    cells: Mapped[dict[str, str]] = mapped_column(Json, default=dict)
    was: Mapped[dict[str, str]] = mapped_column(Json, default=dict)
    skipped: Mapped[bool] = mapped_column(default=False)


class ImportChange(Base):
    """The change of a contact by applying a row, with the state before: the undo log.

    ``undone`` is the outcome when the upload was undone (`app.services.contacts.undo`),
    ``fields_left`` the reason for each field that was not restored.
    """

    __tablename__ = "import_changes"

    import_id: Mapped[ImportId] = mapped_column(primary_key=True)
    row_number: Mapped[int] = mapped_column(primary_key=True)
    contact_id: Mapped[UUID] = mapped_column(index=True)
    action: Mapped[Short]
    before: Mapped[dict[str, Any] | None] = mapped_column(Json)
    after: Mapped[dict[str, Any] | None] = mapped_column(Json)
    undone: Mapped[Short | None]
    fields_left: Mapped[dict[str, str] | None] = mapped_column(Json)


class ColumnMapping(Base):
    """The mapping that a campaign's users last chose for a set of columns."""

    __tablename__ = "column_mappings"
    __table_args__ = (tenant_key("campaigns", "organization_id", "campaign_id"),)

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    columns_hash: Mapped[Hash] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    mapping: Mapped[list[str]] = mapped_column(Json)
    updated_at: Mapped[Updated]
