"""How commands change things: in one transaction, as the command line, refused in a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import click
from sqlalchemy.orm import Session

from app import extensions
from app.errors import DomainError
from app.policy.caller import Caller, system_caller

WHO = "command line"
"""Who acts, in the history."""


@contextmanager
def changes(
    partner_id: UUID | None = None, *, read_only: bool = False
) -> Iterator[tuple[Session, Caller]]:
    """A transaction and the caller; a refusal becomes one sentence and exit code 1."""
    try:
        with extensions.transaction(read_only=read_only) as session:
            yield session, system_caller(WHO, partner_id)
    except DomainError as error:
        raise click.ClickException(error.message) from None
