"""``flask partner …`` and ``flask user …``: what only the operator may do to them."""

from uuid import UUID

import click

from app.commands.changing import changes
from app.services import partners, users


@click.group("partner")
def partner_commands() -> None:
    """Partners."""


@partner_commands.command("verify-domain")
@click.argument("partner_id", metavar="ID", type=click.UUID)
def verify_domain(partner_id: UUID) -> None:
    """Mark the partner's domain as its own: from now on it shows the partner's sign-in page."""
    with changes() as (session, caller):
        domain = partners.verify_domain(session, caller, partner_id).domain
    click.echo(f"{domain} is verified.")


@click.group("user")
def user_commands() -> None:
    """Users."""


@user_commands.command("external-id")
@click.argument("user_id", metavar="ID", type=click.UUID)
@click.argument("external_id")
def external_id(user_id: UUID, external_id: str) -> None:
    """Set the id under which the partner's scripts know the user."""
    with changes() as (session, caller):
        users.set_external_id(session, caller, user_id, external_id)
    click.echo(f"{user_id} is known as {external_id}.")
