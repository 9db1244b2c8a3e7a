"""``flask personal-data``: export and erase the data about a user or a contact."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from uuid import UUID

import click
from flask.cli import AppGroup
from sqlalchemy.orm import Session

from app import extensions
from app.commands.transactions import as_json, changing, print_result, reading
from app.models import Erasure, new_id
from app.phone import PhoneError, normalise
from app.policy.caller import Caller
from app.services.personal_data import erasing, exporting, mentions, preview, subjects
from app.services.personal_data.subjects import DataSubject

personal_data_commands = AppGroup(
    "personal-data", help="Export and erase the data about a user or a contact."
)

_user = click.option("--user", "user_id", type=click.UUID, help="The id of a user.")
_organization = click.option(
    "--organization", "organization_id", type=click.UUID, help="The organization of a contact."
)
_phone = click.option("--phone", help="The contact's number, such as +12025550143.")
_email = click.option("--email", help="The contact's email address.")


def _subject_options(command: Callable[..., Any]) -> Callable[..., Any]:
    return _user(_organization(_phone(_email(command))))


@personal_data_commands.command("export")
@_subject_options
@click.argument("target", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
def export(target: Path, **about: Any) -> None:
    """Write a ZIP of JSON files and recordings. FILE must not exist."""
    with changing() as (session, caller):
        subject = _subject(session, caller, **about)
        file, rows = exporting.write(session, subject, extensions.files())
        out = _create_file(target)
        exporting.record(session, caller, subject)
    with file, out:
        shutil.copyfileobj(file, out)
    click.echo(f"{rows} rows written to {target}.")


@personal_data_commands.command("erase")
@_subject_options
@click.option("--yes", is_flag=True, help="Erase for good. Without it, only count.")
@as_json
def erase(yes: bool, as_json: bool, **about: Any) -> None:
    """Count what is stored about a user or a contact; with --yes, have the worker erase it."""
    with (changing if yes else reading)() as (session, caller):
        subject = _subject(session, caller, **about)
        lines = preview.erasure_lines(session, subject)
        texts = mentions.find_mentions(session, caller, subject).mentions
        begun = erasing.request(session, caller, subject) if yes else None
    described = {
        "erasure": str(begun.id) if begun else None,
        "rows": {line.table: {"rows": line.rows, "fate": line.fate.value} for line in lines},
        "mentions": [
            {"table": each.table, **{name: str(key) for name, key in each.ids.items()}}
            for each in texts
        ],
    }
    output = [f"{line.table}: {line.rows}, {line.fate}" for line in lines]
    output += [f"Check the text in {each.table}, it isn't changed: {each.text}" for each in texts]
    ending = f"Erasure {begun.id} is requested." if begun else "Nothing was changed. Add --yes."
    print_result(described, as_json, *output, ending)


@personal_data_commands.command("status")
@click.argument("erasure_id", metavar="ID", type=click.UUID)
@as_json
def status(erasure_id: UUID, as_json: bool) -> None:
    """Show how far an erasure has come."""
    with reading() as (session, caller):
        stored: Erasure = erasing.get(session, caller, erasure_id)
    described = {"state": stored.status.value, "pseudonym": stored.pseudonym, "rows": stored.counts}
    output = [f"{table}: {rows}" for table, rows in stored.counts.items()]
    print_result(described, as_json, f"{stored.pseudonym}: {stored.status}", *output)


def _create_file(path: Path) -> IO[bytes]:
    """Create a file that only its owner can read. Raises `click.ClickException`."""
    try:
        out = path.open("xb")
    except OSError as error:
        message = f"{path} can't be written: {error.strerror}."
        raise click.ClickException(message) from None
    path.chmod(0o600)
    return out


def _subject(
    session: Session,
    caller: Caller,
    user_id: UUID | None,
    organization_id: UUID | None,
    phone: str | None,
    email: str | None,
) -> DataSubject:
    """Return the subject. Raises `click.UsageError` unless the options name a user or a contact."""
    if user_id is not None and organization_id is None:
        return subjects.user(session, caller, user_id)
    if organization_id is None or user_id is not None or not (phone or email):
        message = (
            "Name a user with --user, or a contact with --organization and --phone or --email."
        )
        raise click.UsageError(message)
    try:
        number = normalise(phone, None) if phone else None
    except PhoneError as error:
        raise click.UsageError(str(error)) from None
    return subjects.contact_called(
        session, caller, organization_id, phone=number, email=email, subject_id=new_id()
    )
