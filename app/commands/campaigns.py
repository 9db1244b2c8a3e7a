"""``flask campaigns create``: campaigns for scripts."""

import json
from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.contact_import import ImportRefused
from app.commands.transactions import ACTOR
from app.errors import DomainError
from app.policy.caller import system_caller
from app.services import campaigns

campaign_commands = AppGroup("campaigns", help="Campaigns.")


@campaign_commands.command("create")
@click.option("--organization", "organization_id", type=click.UUID, required=True)
@click.option("--name", required=True)
@click.option(
    "--external-id-key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Contacts are known by it; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create_campaign(
    *, organization_id: UUID, name: str, keys: tuple[str, ...], as_json: bool
) -> None:
    """Create a paused campaign and print its id.

    It gets the organization's assistants that have no other external ids; a key that none of them
    has is defined at the first one, as one that identifies.
    """
    try:
        with extensions.transaction() as session:
            caller = system_caller(ACTOR)
            campaign = campaigns.create_with_external_ids(
                session, caller, organization_id, name=name, keys=keys
            )
            described = {
                "id": str(campaign.id),
                "name": campaign.name,
                "organizationId": str(campaign.organization_id),
                "status": campaign.status.value,
                "externalIdKeys": sorted(campaigns.external_id_keys(session, campaign)),
            }
    except DomainError as error:
        raise ImportRefused(error.message) from None
    if as_json:
        click.echo(json.dumps(described))
        return
    click.echo(f"{campaign.name} was made: {campaign.id}")
    if described["externalIdKeys"]:
        click.echo(f"Its contacts can have: {', '.join(described['externalIdKeys'])}")
