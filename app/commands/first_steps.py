"""``flask partner create`` and ``flask organization create``: the first tenants of an installation
without a browser. The same is done on the screens."""

from uuid import UUID

import click
from flask.cli import with_appcontext

from app import extensions
from app.commands.transactions import as_json, changing, print_result
from app.enums import CarrierKind
from app.schemas.parsing import read
from app.schemas.partners import CreatePartnerInput
from app.services import assistants, organizations, partners, spending
from app.services.assistants.settings import AssistantFields, update_assistant


@click.command("create")
@click.argument("name")
@as_json
@with_appcontext
def create_partner(name: str, as_json: bool) -> None:
    """Create a partner, in trial mode."""
    with changing() as (session, caller):
        partner = partners.create(session, caller, read(CreatePartnerInput, {"partnerName": name}))
        limit = extensions.settings().new_partner_micros_a_day
        spending.limit_new_partner(session, caller, partner, limit)
        described = {"id": str(partner.id), "name": partner.name}
    print_result(described, as_json, f"{name} is partner {described['id']}.")


@click.command("create")
@click.argument("partner_id", metavar="PARTNER", type=click.UUID)
@click.argument("name")
@click.option("--number", help="The phone number that its first assistant calls from.")
@as_json
@with_appcontext
def create_organization(partner_id: UUID, name: str, number: str | None, as_json: bool) -> None:
    """Create an organization with its first assistant, out of trial mode if its partner is."""
    with changing() as (session, caller):
        organization = organizations.create(
            session, caller, partner_id, organizations.NewOrganization(name), in_trial=False
        )
        (first,) = assistants.of_organization(session, caller, organization.id)
        if number is not None:
            fields = AssistantFields(
                first.name, first.service, first.timezone, True, number, True, True
            )
            carrier = CarrierKind(extensions.settings().carrier)
            update_assistant(session, caller, first.id, fields, carrier=carrier)
        described = {"id": str(organization.id), "name": name, "assistantId": str(first.id)}
    print_result(
        described,
        as_json,
        f"{name} is organization {described['id']}, its assistant {described['assistantId']}.",
    )
