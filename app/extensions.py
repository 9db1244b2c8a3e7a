"""Access to the running application for the faces: transactions, settings, the caller."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import cast
from uuid import UUID

from flask import current_app, g, has_request_context, request
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.config import BaseAddresses, Settings
from app.database import Database
from app.database.scope import AUTHENTICATION, INSTALLATION, DatabaseScope, of_tenant
from app.errors import Unavailable
from app.gateways.files import FileStore, open_files
from app.gateways.processors import open_processor
from app.gateways.processors.base import PaymentProcessor
from app.policy import ROUTES, OpenAccess
from app.policy.caller import Caller
from app.services.auth import author_check, sign_in
from app.services.auth.password_checks import PasswordChecks


def database() -> Database:
    """Return the application's database; in a request, limited to what the caller may see."""
    registered = cast(Database, current_app.extensions["database"])
    return registered.within(_scope_of_request()) if has_request_context() else registered


def _scope_of_request() -> DatabaseScope:
    """Return the scope of the request. Public routes may serve users of another partner, so the
    caller doesn't count there."""
    current: Caller | None = g.get("caller")
    if current is None or ROUTES.get(request.endpoint or "") is OpenAccess.PUBLIC:
        return AUTHENTICATION
    return scope_of(current)


def scope_of(identified: Caller) -> DatabaseScope:
    """Return what the database shows to a caller."""
    if identified.partner_id is None:
        return INSTALLATION if identified.is_operator else AUTHENTICATION
    return of_tenant(identified.partner_id, identified.organization_id)


def settings() -> Settings:
    return cast(Settings, current_app.extensions["settings"])


@contextmanager
def transaction(
    *, read_only: bool = False, scope: DatabaseScope | None = None, all_tenants: bool = False
) -> Iterator[Session]:
    """Open one transaction of the application's database, committed if the block succeeds.

    ``scope`` is for requests that are proved by something else than a caller. Else the user or
    script that writes is looked at again at the commit, which raises as `author_check` says.
    ``all_tenants`` is for services that may take a row from another tenant.

    Inside another transaction or `figures`, a read-only one becomes a part of it, so that a page
    takes one connection and sees its earlier changes. One that writes, or has another scope, is
    separate.
    """
    around: Session | None = g.get("open_session") if has_request_context() else None
    if read_only and not scope and not all_tenants and around is not None:
        yield around
        return
    target, requested_scope = database(), INSTALLATION if all_tenants else scope
    with (target.within(requested_scope) if requested_scope else target).transaction(
        read_only=read_only
    ) as session:
        author = None if read_only or scope else _author()
        if author is not None:
            author_check.check_at_commit(session, author, g.get("authenticate"))
        with _as_open_session(session):
            yield session
    if not read_only and has_request_context():
        g.has_written = True


@contextmanager
def figures() -> Iterator[Session]:
    """Open a session to read figures and lists. It may be on a replica, some seconds behind but
    never behind the user's own last write."""
    after = g.get("wrote_at", 0) if has_request_context() else 0
    with database().figures(after) as session, _as_open_session(session):
        yield session


@contextmanager
def _as_open_session(session: Session) -> Iterator[None]:
    """Let what only reads within the block find the session."""
    if not has_request_context():
        yield
        return
    before = g.get("open_session")
    g.open_session = session
    try:
        yield
    finally:
        g.open_session = before


def _author() -> Caller | None:
    """Return the user or script that requests something that is not public."""
    if not has_request_context() or ROUTES.get(request.endpoint or "") is OpenAccess.PUBLIC:
        return None
    current: Caller | None = g.get("caller")
    return current


def public_url() -> str:
    """Return the installation's URL as the visitor knows it, without a trailing slash: at a
    partner's verified domain, that domain. Without a database it is the installation's own."""
    partner = None
    with suppress(SQLAlchemyError), transaction(read_only=True) as session:
        partner = sign_in.active_partner_by_host(session, request.host)
    if partner is None:
        return settings().public_url.rstrip("/")
    return f"{request.scheme}://{request.host}"


def api_urls() -> BaseAddresses:
    """Return the URLs of the contract's areas as the visitor knows them."""
    return settings().addresses_at(public_url())


def files() -> FileStore:
    """Return the store of uploaded files."""
    store: FileStore | None = current_app.extensions["files"]
    if store is None:
        store = current_app.extensions["files"] = open_files(settings())
    return store


def delete_file(key: str) -> None:
    """Delete a file that is no longer needed. If the store doesn't answer, the worker deletes the
    file later."""
    with suppress(Unavailable):
        files().delete(key)


@contextmanager
def deleted_on_error(key: str) -> Iterator[None]:
    """Delete a new file if the row that refers to it isn't written."""
    try:
        yield
    except BaseException:
        delete_file(key)
        raise


def write_export(export_id: UUID) -> None:
    """Write the file of a requested export, from the declarations of the portal's lists."""
    cast(Callable[[UUID], None], current_app.extensions["write_export"])(export_id)


def password_checks() -> PasswordChecks:
    """Return the limit on how many passwords this process hashes at once."""
    return cast(PasswordChecks, current_app.extensions["password_checks"])


def processor() -> PaymentProcessor:
    """Return the source of prices; only the worker queries an external one."""
    return open_processor(settings())


def caller() -> Caller:
    """Return the caller; the face's authentication sets it before the view runs."""
    return cast(Caller, g.caller)
