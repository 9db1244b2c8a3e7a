"""``flask phone-numbers …``: the numbers that calls come from."""

from uuid import UUID

import click
from flask.cli import AppGroup

from app.commands.transactions import as_json, changing, print_result, reading
from app.services import phone_numbers

PAGE = 500

phone_number_commands = AppGroup("phone-numbers", help="The numbers that calls come from.")
NUMBER = click.argument("number", metavar="NUMBER")


@phone_number_commands.command("list")
@click.option("--partner", "partner_id", type=click.UUID, help="Only of this partner.")
@click.option("--organization", "organization_id", type=click.UUID, help="Only of this one.")
@as_json
def list_numbers(partner_id: UUID | None, organization_id: UUID | None, as_json: bool) -> None:
    """Print each number with its partner, its organization and how it is confirmed."""
    cursor: str | None = None
    numbers: list[phone_numbers.ListedNumber] = []
    with reading(partner_id) as (session, caller):
        while True:
            page = phone_numbers.listing(
                session, caller, organization_id=organization_id, cursor=cursor, limit=PAGE
            )
            numbers += page.items
            cursor = page.next_cursor
            if cursor is None:
                break
    described = [
        {
            "number": row.number.number,
            "partner": row.partner,
            "organization": row.organization,
            "source": row.number.source.value,
            "confirmed": row.number.confirmed_at is not None,
        }
        for row in numbers
    ]
    lines = [
        f"{each['number']}  {each['partner']} / {each['organization'] or '-'}  {each['source']}"
        f"{'' if each['confirmed'] else ', not confirmed'}"
        for each in described
    ]
    print_result(described, as_json, *(lines or ["No phone number yet."]))


@phone_number_commands.command("assign")
@click.argument("organization_id", metavar="ORGANIZATION", type=click.UUID)
@click.argument("numbers", metavar="NUMBER…", nargs=-1, required=True)
def assign(organization_id: UUID, numbers: tuple[str, ...]) -> None:
    """Assign numbers to an organization, all or none."""
    with changing() as (session, caller):
        assigned = phone_numbers.assign(session, caller, organization_id, numbers)
    click.echo(f"Assigned: {' '.join(assigned)}")


@phone_number_commands.command("move")
@NUMBER
@click.option("--organization", "organization_id", type=click.UUID, help="The new organization.")
def move(number: str, organization_id: UUID | None) -> None:
    """Give a number to another organization; without one, its partner keeps it for later."""
    with changing() as (session, caller):
        phone_numbers.move(session, caller, number, organization_id)
    click.echo(f"Moved: {number}")


@phone_number_commands.command("release")
@NUMBER
def release(number: str) -> None:
    """Take a number from its organization: it is free again."""
    with changing() as (session, caller):
        phone_numbers.release(session, caller, number)
    click.echo(f"Released: {number}")


@phone_number_commands.command("conflicts")
@as_json
def conflicts(as_json: bool) -> None:
    """Print each assistant with a number that isn't its organization's: its calls are refused."""
    with reading() as (session, caller):
        rows = phone_numbers.conflicts(session, caller)
        described = [
            {
                "number": each.number,
                "agentId": str(each.assistant.id),
                "agent": each.assistant.name,
                "organization": each.organization,
                "partner": each.partner,
                "belongsTo": each.owner,
            }
            for each in rows
        ]
    lines = [
        f"{each['number']}  {each['agent']} ({each['agentId']}) of {each['partner']} / "
        f"{each['organization']}; belongs to {each['belongsTo'] or 'no organization'}"
        for each in described
    ]
    print_result(described, as_json, *(lines or ["No conflict."]))
