"""``flask audit …``: verify and export the history."""

import json
from pathlib import Path
from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.transactions import reading
from app.models import AuditLink
from app.services.audit import verification
from app.services.audit.chain import chain_of

audit_commands = AppGroup("audit", help="The history: check that it is complete, export it.")


@audit_commands.command("verify")
@click.option(
    "--known",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An earlier export: also notice a history that was cut off or written again since.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(known: Path | None, as_json: bool) -> None:
    """Check that no entry was changed, deleted or inserted. Exit code 1 if one was."""
    ends = _ends_of(known) if known else {}
    with reading() as (session, _caller):
        verdict = verification.verify(session, ends)
    broken = verdict.broken
    if as_json:
        described = broken and {
            "reason": broken.reason,
            "chain": _id_or_none(broken.chain),
            "number": broken.number,
            "entryId": _id_or_none(broken.entry_id),
        }
        click.echo(
            json.dumps({"chains": verdict.chains, "entries": verdict.entries, "broken": described})
        )
    elif broken is None:
        click.echo(f"The history is complete: {verdict.entries} entries, {verdict.chains} chains.")
    else:
        click.echo(
            f"{broken.reason}: entry {broken.entry_id or 'unknown'}, "
            f"chain {broken.chain or 'none'}, number {broken.number or 'none'}.",
            err=True,
        )
    if broken is not None:
        raise SystemExit(1)


@audit_commands.command("export")
@click.option("--partner", "partner_id", type=click.UUID, help="The chain of this partner only.")
def export(partner_id: UUID | None) -> None:
    """Print every entry as one line of JSON, in the order of the chains."""
    conditions = () if partner_id is None else (AuditLink.chain == chain_of(partner_id),)
    with reading() as (session, _caller):
        for entry in verification.export(session, *conditions):
            click.echo(json.dumps(entry))


def _ends_of(path: Path) -> dict[UUID, tuple[int, str]]:
    """Return the last number and hash of each chain in an export."""
    ends: dict[UUID, tuple[int, str]] = {}
    with path.open() as lines:
        for line_number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                ends[UUID(entry["chain"])] = (int(entry["number"]), str(entry["hash"]))
            except (ValueError, KeyError, TypeError):
                message = f"Line {line_number} of {path} isn't a line of `flask audit export`."
                raise click.ClickException(message) from None
    return ends


def _id_or_none(value: UUID | None) -> str | None:
    return None if value is None else str(value)
