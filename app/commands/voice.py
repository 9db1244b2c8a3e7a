"""``flask voice``: the reports of voice engines."""

from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.transactions import as_json, print_result, reading
from app.services import assistants
from app.services.recordings import secret_of

voice_commands = AppGroup("voice", help="Reports of voice engines.")


@voice_commands.command("secret")
@click.argument("assistant_id", metavar="ASSISTANT", type=click.UUID)
@as_json
def secret(assistant_id: UUID, as_json: bool) -> None:
    """Print the secret with which the assistant's voice engine signs its reports."""
    voice_secret = extensions.settings().voice_secret
    if not voice_secret:
        message = "PORTAL_VOICE_SECRET is not set: reports of voice engines are refused."
        raise click.ClickException(message)
    with reading() as (session, caller):
        assistant = assistants.get(session, caller, assistant_id)
        engine_secret = secret_of(voice_secret, assistant.id)
        print_result(
            {"assistantId": str(assistant.id), "secret": engine_secret}, as_json, engine_secret
        )
