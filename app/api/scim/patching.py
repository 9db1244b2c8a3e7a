"""Limits of PATCH requests, checked before they are read as such."""

from typing import Any

from app.errors import ValidationFailed

MAX_OPERATIONS = 200
MAX_PATH_LENGTH = 500
MAX_BRACKETS = 20


def check_operations(patch: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a PATCH request. Raises `ValidationFailed` (``too_many_operations``,
    ``path_too_long``)."""
    submitted_operations = next(
        (patch[name] for name in patch if name.lower() == "operations"), None
    )
    operations: list[Any] = submitted_operations if isinstance(submitted_operations, list) else []
    if len(operations) > MAX_OPERATIONS:
        message = f"A request has at most {MAX_OPERATIONS} operations. Send several requests."
        raise ValidationFailed.on("Operations", "too_many_operations", message)
    for operation in operations:
        if isinstance(operation, dict):
            _check_path(operation)
    return patch


def _check_path(operation: dict[str, Any]) -> None:
    for name, path in operation.items():
        if name.lower() != "path" or not isinstance(path, str):
            continue
        if len(path) > MAX_PATH_LENGTH or path.count("(") + path.count("[") > MAX_BRACKETS:
            message = (
                f"A path has at most {MAX_PATH_LENGTH} characters and {MAX_BRACKETS} brackets."
            )
            raise ValidationFailed.on("path", "path_too_long", message)
