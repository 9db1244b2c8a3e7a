"""What the faces reach through the running application: transactions, settings, the caller."""

from contextlib import AbstractContextManager
from typing import cast

from flask import current_app, g
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.gateways.files import FileStore, open_files
from app.gateways.processors import open_processor
from app.gateways.processors.base import Processor
from app.policy.caller import Caller


def database() -> Database:
    return cast(Database, current_app.extensions["database"])


def settings() -> Settings:
    return cast(Settings, current_app.extensions["settings"])


def transaction(*, read_only: bool = False) -> AbstractContextManager[Session]:
    """One transaction of the application's database, committed where the block ends well."""
    return database().transaction(read_only=read_only)


def files() -> FileStore:
    """Where uploaded files are kept."""
    return open_files(settings())


def processor() -> Processor:
    """Where prices come from; only the worker asks one that is outside."""
    return open_processor(settings())


def caller() -> Caller:
    """Who is asking; set by the face's authentication before the view runs."""
    return cast(Caller, g.caller)
