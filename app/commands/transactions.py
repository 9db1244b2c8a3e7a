"""Shared by commands: a transaction as the command line, errors in one sentence, the output."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import click
from sqlalchemy.orm import Session

from app import extensions
from app.errors import DomainError
from app.policy.caller import Caller, system_caller

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

ACTOR = "command line"
"""The actor's name in the history."""


@contextmanager
def changing(partner_id: UUID | None = None) -> Iterator[tuple[Session, Caller]]:
    """Yield a transaction and the caller; an error becomes one sentence and exit code 1."""
    with _reporting_errors(), extensions.transaction() as session:
        yield session, system_caller(ACTOR, partner_id)


@contextmanager
def reading(partner_id: UUID | None = None) -> Iterator[tuple[Session, Caller]]:
    """As `changing`, with a transaction that only reads."""
    with _reporting_errors(), extensions.transaction(read_only=True) as session:
        yield session, system_caller(ACTOR, partner_id)


@contextmanager
def _reporting_errors() -> Iterator[None]:
    try:
        yield
    except DomainError as error:
        raise click.ClickException(error.message) from None


def print_result(described: Any, as_json: bool, *lines: str) -> None:
    """Print ``described`` as JSON, or the lines."""
    for line in (json.dumps(described),) if as_json else lines:
        click.echo(line)
