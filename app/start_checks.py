"""Checks before a process serves or works, beyond its settings."""

import logging

from sqlalchemy.exc import SQLAlchemyError

from app.config import Settings
from app.database import Database, make_engine
from app.database.migration import check_schema
from app.errors import Unavailable
from app.gateways.carriers.twilio.account import is_installed
from app.gateways.files import FileStore
from app.languages import capitalized
from app.private_files import OpenToOthers, keep_private
from app.services import file_identity, installation

log = logging.getLogger(__name__)

UPGRADES = 'docs/operations.md, "Upgrades", says in which order to migrate and start.'


def check(settings: Settings) -> None:
    """End the program with a sentence for each setting that isn't safe in production."""
    try:
        keep_private(settings)
    except OpenToOthers as error:
        raise SystemExit(str(error)) from None
    if settings.env != "production":
        return
    database = Database(make_engine(settings.effective_database_url, pool_size=1))
    try:
        with database.transaction(read_only=True) as session:
            problem = check_schema(session.connection()).problem
            count, first = (0, None) if problem else installation.demo_accounts(session)
            is_unusable = not problem and not is_installed()
            unusable = installation.twilio_accounts(session) if is_unusable else 0
    except SQLAlchemyError:  # unreachable: /readyz and the log report it
        return
    finally:
        database.dispose()
    if problem:
        message = f"{capitalized(problem)}. {UPGRADES}"
        raise SystemExit(message)
    if unusable:
        message = (
            f"Partners call over Twilio ({unusable} accounts), which needs the extra twilio: "
            "install the packages of requirements-twilio.lock."
        )
        raise SystemExit(message)
    if count:
        message = (
            f"The database holds demo accounts ({count}, {first} first), whose passwords are in "
            "demo.json. Production needs a database of its own (DATABASE_URL)."
        )
        raise SystemExit(message)


def check_files(settings: Settings, database: Database, files: FileStore) -> None:
    """End the program with a sentence if its file store isn't the one of the other processes.

    Call it in each process, after a fork. With SQLite there is only one host, and the check is
    skipped.
    """
    if database.is_sqlite and settings.files_folder is not None:
        return
    try:
        with database.transaction(read_only=True) as session:
            stored_identity = file_identity.identity(session)
        if stored_identity is not None:  # no lock is held while the store is queried
            file_identity.compare(files, stored_identity)
            return
        with database.transaction() as session:
            file_identity.check(session, files, must_be_own=settings.env == "production")
    except file_identity.OtherStore as error:
        raise SystemExit(str(error)) from None
    except OSError as error:
        message = f"{files.location} can't be used for files: {error}. Check PORTAL_FILES_URL."
        raise SystemExit(message) from None
    except Unavailable:
        log.warning("the file storage was not compared with the database's: it does not answer")
    except SQLAlchemyError:  # unreachable or not migrated: /readyz and the log report it
        return
