"""UUIDs in texts with any content."""

from uuid import UUID


def as_uuid(value: UUID | str | None) -> UUID | None:
    """Return the UUID that a text holds, in any of its forms; None for any other text."""
    if value is None or isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        return None


def as_hyphenated_uuid(text: str) -> UUID | None:
    """Return the UUID that a text holds in its form with hyphens; None for any other text."""
    identifier = as_uuid(text)
    return identifier if identifier is not None and str(identifier) == text.lower() else None
