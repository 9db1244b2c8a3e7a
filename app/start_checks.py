"""What must hold before a process serves or works, beyond its settings."""

from sqlalchemy.exc import SQLAlchemyError

from app.config import Settings
from app.database import Database, make_engine
from app.private_files import OpenToOthers, keep_private
from app.services import installation


def check(settings: Settings) -> None:
    """End the program with a sentence for each thing that isn't safe in production."""
    try:
        keep_private(settings)
    except OpenToOthers as error:
        raise SystemExit(str(error)) from None
    if settings.env != "production":
        return
    database = Database(make_engine(settings.effective_database_url, pool_size=1))
    try:
        with database.transaction(read_only=True) as session:
            count, first = installation.demo_accounts(session)
    except SQLAlchemyError:  # not migrated or not reachable: /readyz and the log say so
        return
    finally:
        database.dispose()
    if count:
        message = (
            f"The database holds demo accounts ({count}, {first} first), whose passwords are in "
            "demo.json. Production needs a database of its own (DATABASE_URL)."
        )
        raise SystemExit(message)
