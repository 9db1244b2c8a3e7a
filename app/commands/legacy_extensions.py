"""``flask client extend``: clients that the legacy API serves after its retirement."""

from datetime import datetime

import click
from flask.cli import with_appcontext

from app.commands.credentials import MomentParameter, print_client
from app.commands.transactions import as_json, changing
from app.services.legacy import extensions


@click.command("extend")
@click.argument("client_id")
@click.option(
    "--until", type=MomentParameter(), help="Served until then although the API is retired."
)
@click.option("--end", is_flag=True, help="End the extension.")
@as_json
@with_appcontext
def extend_client(client_id: str, until: datetime | None, end: bool, as_json: bool) -> None:
    """Give a client of the Legacy API an extension with an end date."""
    if (until is None) != end:
        message = "Name --until DATE, or --end."
        raise click.UsageError(message)
    with changing() as (session, caller):
        client = extensions.extend(session, caller, client_id, until)
    print_client(client, as_json)
