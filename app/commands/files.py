"""``flask files``: the files of the installation."""

import click
from flask.cli import AppGroup

from app import extensions
from app.services.imports import expiry

file_commands = AppGroup("files", help="Uploaded files.")


@file_commands.command("orphans")
@click.option("--remove", is_flag=True, help="Delete them.")
def orphans(remove: bool) -> None:
    """List files that nothing refers to, older than a day. The worker removes them every hour."""
    store = extensions.files()
    with extensions.transaction(read_only=True) as session:
        found = expiry.orphans(session, store, expiry.ORPHAN_AFTER)
    for key in found:
        click.echo(key)
        if remove:
            store.delete(key)
    click.echo(f"{'Removed' if remove else 'Files without an upload'}: {len(found)}")
