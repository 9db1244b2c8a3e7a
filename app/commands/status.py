"""``flask organization …``, ``flask do-not-call …``, ``flask assistant …``: stop and allow calls at
once. Waiting calls are checked again when their turn comes."""

from dataclasses import replace
from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.transactions import changing
from app.services import assistants, do_not_call, organizations

ORGANIZATION = click.argument("organization_id", metavar="ORG", type=click.UUID)
ASSISTANT = click.argument("assistant_id", metavar="ASSISTANT", type=click.UUID)


organization_commands = AppGroup("organization", help="Organizations.")


@organization_commands.command("suspend")
@ORGANIZATION
@click.option("--reason", help="Shown to the partner.")
def suspend(organization_id: UUID, reason: str | None) -> None:
    """Stop everything it does; its waiting calls end."""
    with changing() as (session, caller):
        organization = organizations.suspend(session, caller, organization_id, reason=reason)
        name = organization.name
    click.echo(f"{name} is suspended.")


@organization_commands.command("resume")
@ORGANIZATION
def resume(organization_id: UUID) -> None:
    """End its suspension."""
    with changing() as (session, caller):
        name = organizations.reactivate(session, caller, organization_id).name
    click.echo(f"{name} is active.")


@organization_commands.command("regions")
@ORGANIZATION
@click.argument("regions", metavar="REGION…", nargs=-1, required=True)
def replace_regions(organization_id: UUID, regions: tuple[str, ...]) -> None:
    """Replace the list of regions that it may call (US CA …), among those that are open."""
    region_codes = tuple(region.upper() for region in regions)
    with changing() as (session, caller):
        organization = organizations.get(session, caller, organization_id, for_change=True)
        rules = replace(organizations.rules_of(organization), allowed_regions=region_codes)
        max_at_once = extensions.settings().calls_per_organization
        organizations.change_settings(
            session, caller, organization.id, rules, max_at_once=max_at_once
        )
        name, allowed = organization.name, " ".join(organization.allowed_regions)
    click.echo(f"{name} may call: {allowed}")


do_not_call_commands = AppGroup("do-not-call", help="The do-not-call list of an organization.")


@do_not_call_commands.command("add")
@ORGANIZATION
@click.argument("number")
@click.option("--reason", help="Kept with the number.")
def add_number(organization_id: UUID, number: str, reason: str | None) -> None:
    """Add a number to the list; it is never called from now on."""
    with changing() as (session, caller):
        phone = do_not_call.add(
            session, caller, organization_id, number, reason=reason, source="command"
        ).phone
    click.echo(f"{phone} is on the list.")


assistant_commands = AppGroup("assistant", help="Assistants.")


@assistant_commands.command("deactivate")
@ASSISTANT
def deactivate(assistant_id: UUID) -> None:
    """Switch it off; its waiting calls end."""
    _switch(assistant_id, active=False)


@assistant_commands.command("activate")
@ASSISTANT
def activate(assistant_id: UUID) -> None:
    """Switch it on."""
    _switch(assistant_id, active=True)


def _switch(assistant_id: UUID, *, active: bool) -> None:
    with changing() as (session, caller):
        assistant = assistants.get(session, caller, assistant_id, for_change=True)
        if assistant.active is not active:
            assistants.configure_assistant(session, caller, assistant, active=active)
        name = assistant.name
    click.echo(f"{name} is switched {'on' if active else 'off'}.")
