"""``flask doctor``: check the installation, and say what to do about each problem."""

import json

import click
from flask.cli import with_appcontext
from sqlalchemy.exc import SQLAlchemyError

from app import extensions
from app.commands.doctor_database import DATABASE_CHECKS
from app.commands.doctor_findings import Check, DoctorFinding, FindingStatus
from app.commands.doctor_machine import MACHINE_CHECKS
from app.commands.doctor_network import NETWORK_CHECKS

CHECKS: dict[str, Check] = {**MACHINE_CHECKS, **DATABASE_CHECKS, **NETWORK_CHECKS}
"""Checks in the order in which they run and are printed."""


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--skip", multiple=True, type=click.Choice(list(CHECKS)), help="May be repeated.")
@with_appcontext
def doctor(as_json: bool, skip: tuple[str, ...]) -> None:
    """Check settings, files, clock, database, names, mail, carrier, public address and backups.

    Run it on the host and under the account of the portal, with its settings. It changes nothing,
    sends no mail and calls no one. Exit code 1 if a check fails; warnings don't count.
    """
    findings = {}
    for name, check in CHECKS.items():
        if name not in skip:
            findings[name] = finding = _run_check(check)
            if not as_json:
                click.echo(f"{finding.status:<4}  {name:<11}  {finding.text}")
    is_healthy = all(finding.status != FindingStatus.FAIL for finding in findings.values())
    if as_json:
        checks = {
            name: {"state": each.status, "text": each.text} for name, each in findings.items()
        }
        click.echo(json.dumps({"healthy": is_healthy, "checks": checks}))
    if not is_healthy:
        raise click.exceptions.Exit(1)


def _run_check(check: Check) -> DoctorFinding:
    try:
        return check(extensions.settings(), extensions.database())
    except (OSError, SQLAlchemyError) as error:
        reason = str(error).partition("\n")[0]
        return DoctorFinding(FindingStatus.FAIL, f"Not checked: {type(error).__name__}: {reason}")
