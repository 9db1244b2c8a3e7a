"""The author of a long upload is notified of its end, unless they have turned that mail off."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.enums import ImportStatus
from app.models import ContactImport, Mail, User
from app.services.imports import steps
from app.services.imports.pipeline import apply_rows
from tests.fixtures.uploads import Importer, number


def mails_after(importer: Importer, *, minutes: int, stopped: bool = False) -> list[dict[str, Any]]:
    """Return the details of the mails about an upload whose applying took this long."""
    upload_id = importer.checked(f"Name,Phone\nAnn Lee,{number(1)}\nBob,12\n").id
    apply_number = importer.start(upload_id)
    with importer.database.transaction() as session:
        upload = session.get_one(ContactImport, upload_id)
        assert upload.apply_started_at is not None
        upload.apply_started_at -= timedelta(minutes=minutes)
        if stopped:
            steps.cancel(session, importer.caller, upload_id)
    apply_rows(importer.database, upload_id, apply_number)
    ended = ImportStatus.CANCELLED if stopped else ImportStatus.DONE
    assert importer.now(upload_id).status is ended
    with importer.database.transaction(read_only=True) as session:
        found = session.scalars(select(Mail).where(Mail.user_id == importer.caller.subject_id))
        return [mail.details | {"kind": mail.kind} for mail in found]


def test_the_end_of_a_long_upload_is_mailed_with_its_counts(importer: Importer) -> None:
    (reported,) = mails_after(importer, minutes=2)
    assert reported == {
        "kind": "import_finished",
        "uploadId": reported["uploadId"],
        "file": "people.csv",
        "campaign": "Winter recall",
        "state": "done",
        "rows": 1,
        "total": 2,
        "created": 1,
        "updated": 0,
        "deleted": 0,
        "ignored": 0,
        "failed": 1,
    }


def test_a_quick_upload_sends_no_mail(importer: Importer) -> None:
    assert mails_after(importer, minutes=0) == []


def test_a_user_who_stopped_an_upload_gets_no_mail(importer: Importer) -> None:
    assert mails_after(importer, minutes=2, stopped=True) == []


@pytest.mark.parametrize(("choice", "count"), [({}, 1), ({"importFinished": False}, 0)])
def test_the_mail_follows_the_choice_of_the_user(
    importer: Importer, choice: dict[str, bool], count: int
) -> None:
    with importer.database.transaction() as session:
        session.get_one(User, importer.caller.subject_id).notifications = choice
    assert len(mails_after(importer, minutes=2)) == count
