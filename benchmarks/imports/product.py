"""Reading, checking and applying as in the product, measured in this process."""

from pathlib import Path

from sqlalchemy import select

from app.contact_files import open_table
from app.database import Database, make_engine
from app.gateways.files import open_files
from app.models import ContactImport
from app.services.imports.pipeline import apply_rows, check_file
from benchmarks.imports.measuring import Cost, Locks, measured
from tests.fixtures.settings import settings_for


def we_read(path: Path) -> None:
    with open_table(path) as table:
        for _ in table.rows():
            pass


def upload_of(database: Database) -> ContactImport:
    with database.transaction(read_only=True) as session:
        upload = session.scalars(select(ContactImport)).one()
        session.expunge(upload)
        return upload


def we_check(url: str, folder: Path) -> Cost:
    database = Database(make_engine(url))
    locks, upload = Locks(database), upload_of(database)
    files = open_files(settings_for(url, folder))
    cost = measured(lambda: check_file(database, files, upload.id, upload.check_number))
    after = upload_of(database)
    assert after.status == "checked", after.failure
    return cost._replace(lock=locks.longest * 1000)


def we_apply(url: str) -> Cost:
    database = Database(make_engine(url))
    locks, upload = Locks(database), upload_of(database)
    cost = measured(lambda: apply_rows(database, upload.id, upload.apply_number))
    assert upload_of(database).status == "done"
    return cost._replace(lock=locks.longest * 1000)
