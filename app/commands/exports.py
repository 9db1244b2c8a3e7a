"""``flask exports``: the process that writes an export for the worker."""

import os
import sys
import threading
from uuid import UUID

import click
from flask.cli import AppGroup

from app import extensions

export_commands = AppGroup("exports", help="Exports of lists.")
NICENESS = 10
"""CPU priority (nice): calls come first."""


@export_commands.command("write")
@click.argument("export_id", metavar="ID", type=click.UUID)
@click.option("--with-parent", is_flag=True, help="End when the standard input ends.")
def write(export_id: UUID, with_parent: bool) -> None:
    """Write the file of a requested export; for the worker. Repeating it isn't an error."""
    if with_parent:
        threading.Thread(target=_end_with_input, daemon=True).start()
        os.nice(NICENESS)
    extensions.write_export(export_id)


def _end_with_input() -> None:
    while os.read(sys.stdin.fileno(), 1024):  # a buffered read would delay the end of Python
        pass
    os._exit(1)
