"""Ids in texts that may hold anything."""

from uuid import UUID


def as_uuid(value: UUID | str | None) -> UUID | None:
    """Return the id that a text writes, in any form of a UUID; None where it writes none."""
    if value is None or isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        return None
