"""``flask storage …``: what partners store, their limits, and freeing disk space."""

import re
from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.transactions import as_json, changing, print_result, reading
from app.services import storage
from app.services.storage import StorageUsage

storage_commands = AppGroup("storage", help="What partners store, and their limits.")
_UNITS = {"MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"(\d{1,7})\s?(MB|GB)", re.IGNORECASE)


@storage_commands.command("show")
@click.option("--partner", "partner_id", type=click.UUID, help="The organizations of a partner.")
@as_json
def show(partner_id: UUID | None, as_json: bool) -> None:
    """Print used storage and limits, those that store most first."""
    defaults = extensions.settings().storage_defaults
    with reading() as (session, caller):
        if partner_id is None:
            partners = storage.of_partners(session, caller, defaults)
            usages = [(str(owner.id), owner.name, usage) for owner, usage in partners]
        else:
            owned = storage.of_organizations(session, caller, partner_id, defaults)
            usages = [(str(owner.id), owner.name, usage) for owner, usage in owned]
    described = [
        {"id": id_, "name": name, "usedBytes": usage.used, "limitBytes": usage.limit}
        for id_, name, usage in usages
    ]
    lines = [f"{id_}  {_usage_label(usage)}  {name}" for id_, name, usage in usages]
    print_result(described, as_json, *(lines or ["Nothing is stored."]))


@storage_commands.command("limit")
@click.argument("partner_id", metavar="ID", type=click.UUID)
@click.argument("size", metavar="[SIZE]", required=False)
@click.option("--reset", is_flag=True, help="Use the limit of the installation.")
def limit(partner_id: UUID, size: str | None, reset: bool) -> None:
    """Set a partner's limit, like 500MB or 5GB."""
    if (size is None) != reset:
        message = "Give either a size or --reset."
        raise click.UsageError(message)
    with changing() as (session, caller):
        storage.change_partner_limit(
            session, caller, partner_id, _parse_size(size) if size else None
        )
    with reading() as (session, caller):
        defaults = extensions.settings().storage_defaults
        usage = storage.of_partner(session, caller, partner_id, defaults)
    click.echo(f"Storage: {_usage_label(usage)}")


@storage_commands.command("compact")
def compact() -> None:
    """Shrink SQLite's file to what it holds. Nothing can be written meanwhile."""
    database = extensions.database()
    if not database.is_sqlite:
        click.echo("PostgreSQL reuses the space of deleted rows. VACUUM FULL shrinks its files.")
        return
    click.echo(f"Given back: {database.compact() / 10**6:,.1f} MB")


def _usage_label(usage: StorageUsage) -> str:
    return f"{usage.used / 10**6:,.1f} of {usage.limit / 10**6:,.1f} MB"


def _parse_size(size: str) -> int:
    match = _SIZE.fullmatch(size.strip())
    if match is None:
        message = f"{size} is not a size like 500MB or 5GB."
        raise click.BadParameter(message, param_hint="SIZE")
    return int(match[1]) * _UNITS[match[2].upper()]
