"""``flask files``: the files of the installation."""

import click
from flask.cli import AppGroup

from app import extensions
from app.commands.transactions import as_json, changing, print_result, reading
from app.config.files import check_url
from app.errors import DomainError
from app.gateways.files import FileStore, open_files_at
from app.services import file_copies, file_identity
from app.services.imports import expiry

file_commands = AppGroup("files", help="Uploads, recordings and exports.")


@file_commands.command("orphans")
@click.option("--remove", is_flag=True, help="Delete them.")
def orphans(remove: bool) -> None:
    """List files that nothing refers to, older than a day. The worker removes them every hour."""
    store = extensions.files()
    with reading() as (session, _caller):
        keys = expiry.list_orphans(session, store)
    for key in keys:
        click.echo(key)
        if remove:
            store.delete(key)
    click.echo(f"{'Removed' if remove else 'Orphan files'}: {len(keys)}")


@file_commands.command("copy")
@click.option("--to", required=True, metavar="URL", help="file:///a/folder or s3://bucket/prefix.")
@click.option("--from", "source", metavar="URL", help="Default: where the files are now.")
@as_json
def copy(to: str, source: str | None, as_json: bool) -> None:
    """Copy all files to another store and compare them. Run it again to continue, and for files
    added since.

    Then stop the portal, run it once more, and start with the URL as PORTAL_FILES_URL.
    """
    origin = _open_store("--from", source) if source else extensions.files()
    target = _open_store("--to", to)
    copied = compared = 0
    try:
        for _key, is_new in file_copies.copy_files(origin, target):
            copied, compared = copied + is_new, compared + (not is_new)
    except file_identity.OtherStore as error:
        raise click.ClickException(str(error)) from None
    except (DomainError, OSError, file_copies.CopyDiffers) as error:
        raise click.ClickException(f"{error} Copied so far: {copied}. Run it again.") from None
    print_result(
        {"copied": copied, "alreadyThere": compared},
        as_json,
        f"{target.location}: {copied} files copied, {compared} were there already. All are equal.",
    )


@file_commands.command("adopt")
def adopt() -> None:
    """Declare the store of the settings that of this database: after files were moved or lost."""
    store = extensions.files()
    with changing() as (session, _caller):
        file_identity.adopt(session, store)
    click.echo(f"The files of this installation are in {store.location}.")


def _open_store(option: str, url: str) -> FileStore:
    try:
        check_url(option, url)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return open_files_at(extensions.settings(), url)
