"""The command line: ``flask --app wsgi COMMAND``."""

import json

import click
from flask import Flask
from sqlalchemy import select

from app import extensions
from app.commands.audit import audit_commands
from app.commands.backup import backup_commands
from app.commands.calls import call_commands
from app.commands.campaigns import campaign_commands
from app.commands.contacts import contact_commands
from app.commands.credentials import (
    client_commands,
    key_commands,
    operator_commands,
    signing_key_commands,
)
from app.commands.demo import demo
from app.commands.destinations import destination_commands
from app.commands.doctor import doctor
from app.commands.exports import export_commands
from app.commands.files import file_commands
from app.commands.first_steps import create_organization, create_partner
from app.commands.legacy_extensions import extend_client
from app.commands.partners import partner_commands, user_commands
from app.commands.personal_data import personal_data_commands
from app.commands.phone_numbers import phone_number_commands
from app.commands.reconcile import reconcile
from app.commands.spending import spending_commands
from app.commands.status import assistant_commands, do_not_call_commands, organization_commands
from app.commands.storage import storage_commands
from app.commands.upgrade import upgrade_commands
from app.commands.voice import voice_commands
from app.commands.webhooks import webhook_commands
from app.database import Database
from app.database.migration import current, upgrade
from app.database.migration_plan import pending
from app.gateways.job_queue import migrate_engine
from app.jobs import months
from app.models import Partner


@click.command("migrate")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--expand", is_flag=True, help="Only migrations after which the previous version keeps working."
)
def migrate(as_json: bool, expand: bool) -> None:
    """Bring the database to the newest migration, the durable queue's tables included."""
    settings = extensions.settings()
    settings.instance_dir.mkdir(parents=True, exist_ok=True)
    database = extensions.database()
    target = _last_compatible_revision(database) if expand else "head"
    if target is not None:
        upgrade(database, target)
    migrate_engine(settings.effective_database_url)
    months.rotate_partitions(database, settings)
    with database.transaction(read_only=True) as session:
        revision = current(session.connection())
        empty = session.scalar(select(Partner.id).limit(1)) is None
    if as_json:
        click.echo(json.dumps({"revision": revision, "empty": empty}))
    else:
        click.echo(f"The database is at migration {revision}.")


def _last_compatible_revision(database: Database) -> str | None:
    with database.transaction(read_only=True) as session:
        steps = pending(session.connection())
    return next((step.revision for step in reversed(steps) if step.serves), None)


def register_commands(app: Flask) -> None:
    call_commands.add_command(reconcile)
    client_commands.add_command(extend_client)
    organization_commands.add_command(create_organization)
    partner_commands.add_command(create_partner)
    for command in (
        migrate,
        demo,
        assistant_commands,
        audit_commands,
        backup_commands,
        call_commands,
        campaign_commands,
        contact_commands,
        client_commands,
        destination_commands,
        do_not_call_commands,
        doctor,
        export_commands,
        file_commands,
        key_commands,
        operator_commands,
        organization_commands,
        partner_commands,
        personal_data_commands,
        signing_key_commands,
        spending_commands,
        phone_number_commands,
        storage_commands,
        upgrade_commands,
        user_commands,
        voice_commands,
        webhook_commands,
    ):
        app.cli.add_command(command)
