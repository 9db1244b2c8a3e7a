"""``flask contacts import`` and ``flask contacts export``: contact files for scripts.

Exit status 0: read, 1: read and some rows failed, 2: refused, or a usage error.
"""

import json
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any
from uuid import UUID

import click
import orjson
from flask.cli import AppGroup

from app import extensions
from app.commands.contact_import import ContactImporter, ImportOutcome, ImportRefused, ImportRequest
from app.commands.contact_output import summary_lines
from app.commands.transactions import ACTOR
from app.contact_files import UnreadableFile
from app.enums import ContactAction
from app.errors import DomainError
from app.phone import regions
from app.policy.caller import system_caller
from app.services import campaigns
from app.services.imports import export, summary

FAILED_ROWS, REFUSED = 1, 2


class RegionParameter(click.ParamType[str]):
    """A country by its two letters: US."""

    name = "REGION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        supported = {code for code, _ in regions()}
        if (code := str(value).upper()) not in supported:
            self.fail(f"{value} is not a country with phone numbers. Use US, GB or DE.", param, ctx)
        return code


class DelimiterParameter(click.ParamType[str]):
    """The character between the cells of a text."""

    name = "CHARACTER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        delimiter = _TABS.get(str(value), str(value))
        if len(delimiter) != 1 or delimiter in '"\r\n':
            self.fail(
                f"{value} can't separate cells. Use one character such as ; or tab.", param, ctx
            )
        return delimiter


_TABS = dict.fromkeys(("tab", "\\t"), "\t")

contact_commands = AppGroup("contacts", help="Contacts of campaigns as files.")


@contact_commands.command("import")
@click.argument(
    "path", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--campaign", "campaign_id", type=click.UUID, required=True, help="Its id.")
@click.option(
    "--action",
    type=click.Choice([action.value for action in ContactAction]),
    default=ContactAction.UPSERT.value,
    show_default=True,
)
@click.option(
    "--mapping",
    "mapping_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='JSON: {"phone": "Mobile", "firstName": "B", "Recall due": "C"}.',
)
@click.option("--sheet", help="The workbook's sheet; else the one that was open last.")
@click.option(
    "--header-row",
    type=click.IntRange(min=0),
    help="The row of the column names; 0: none.",
)
@click.option("--encoding", help="Of a text file, by Python's name; else it is found out.")
@click.option(
    "--delimiter", type=DelimiterParameter(), help="Of a text file, or tab; else it is found out."
)
@click.option("--region", type=RegionParameter(), help="Of numbers without a country code: US.")
@click.option("--dry-run", is_flag=True, help="Show what would happen. Nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def import_file(
    ctx: click.Context,
    *,
    path: Path,
    campaign_id: UUID,
    action: str,
    mapping_file: Path | None,
    sheet: str | None,
    header_row: int | None,
    encoding: str | None,
    delimiter: str | None,
    region: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import the contacts of FILE into a campaign; the server may be running or stopped.

    After Ctrl-C the import ends with the rows already applied; if it is killed, the server
    continues.
    """
    request = ImportRequest(
        path=path,
        campaign_id=campaign_id,
        action=ContactAction(action),
        mapping=_read_mapping(mapping_file) if mapping_file else None,
        reading={
            "encoding": encoding,
            "delimiter": delimiter,
            "headerRow": header_row,
            "sheet": sheet,
            "region": region,
        },
    )
    settings = extensions.settings()
    importer = ContactImporter(
        extensions.database(),
        extensions.files(),
        system_caller(ACTOR),
        max_rows=settings.max_import_rows,
        max_bytes=settings.max_upload_bytes,
        storage_defaults=settings.storage_defaults,
    )
    out = sys.stdout.buffer
    with ExitStack() as stack:
        try:
            work = importer.dry_run(request) if dry_run else importer.apply(request)
            outcome = stack.enter_context(work)
        except UnreadableFile as refusal:
            if not as_json:
                raise ImportRefused(refusal.message) from None
            out.write(summary.refusal_as_json(refusal.code, refusal.row, refusal.message))
            ctx.exit(REFUSED)
        except DomainError as error:
            raise ImportRefused(error.message) from None
        if as_json:
            _write_json(out, outcome)
        else:
            _write_summary(importer, outcome, path.name)
    ctx.exit(FAILED_ROWS if outcome.summary.counters()["failed"] else 0)


def _read_mapping(path: Path) -> Any:
    try:
        data = path.read_bytes()
        return orjson.loads(data.decode(json.detect_encoding(data)))
    except (OSError, ValueError) as error:
        message = f"{path} is not JSON: {error}."
        raise click.BadParameter(message, param_hint="--mapping") from None


def _write_json(out: IO[bytes], outcome: ImportOutcome) -> None:
    for piece in summary.as_json(outcome.summary, outcome.rows):
        out.write(piece)


def _write_summary(importer: ContactImporter, outcome: ImportOutcome, file_name: str) -> None:
    dry_run = outcome.upload_id is None
    for line in summary_lines(outcome.summary, outcome.rows, file_name, dry_run=dry_run):
        click.echo(line)
    if outcome.upload_id is None:
        click.echo("Nothing was changed: this was a dry run.")
        return
    if earlier := importer.earlier(outcome.upload_id):
        when = f"{earlier.created_at:%Y-%m-%d %H:%M} UTC"
        click.echo(f"This file was applied before, uploaded on {when} by {earlier.author}.")
    address = f"{extensions.settings().addresses.base}/uploads/{outcome.upload_id}"
    if outcome.summary.counters()["failed"]:
        click.echo(f"Get the failed rows as a file: {address}")
    else:
        click.echo(f"The import is kept at {address}")


@contact_commands.command("export")
@click.option("--campaign", "campaign_id", type=click.UUID, required=True, help="Its id.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Else standard output."
)
def export_file(*, campaign_id: UUID, output: Path | None) -> None:
    """Export a campaign's contacts as CSV; importing it again gives exactly the same contacts."""
    database = extensions.database()
    try:
        with database.transaction(read_only=True) as session:
            campaign = campaigns.get(session, system_caller(ACTOR), campaign_id)
            columns = export.columns_of(session, campaign)
    except DomainError as error:
        raise ImportRefused(error.message) from None
    with ExitStack() as stack:
        out: IO[bytes] = sys.stdout.buffer
        if output is not None:
            try:
                out = stack.enter_context(open(output, "wb", opener=_open_private))
            except OSError as error:
                message = f"{output} can't be written: {error.strerror}."
                raise ImportRefused(message) from None
        for chunk in export.parts(partial(database.transaction, read_only=True), columns):
            out.write(chunk)


def _open_private(path: str, flags: int) -> int:
    """Open a file that only its owner can read: contacts are private on a shared machine."""
    return os.open(path, flags, mode=0o600)
