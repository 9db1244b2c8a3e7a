"""Files that a screen offers: figures as CSV."""

from collections.abc import Iterable

from flask import Response


def csv_file(name: str, parts: Iterable[bytes]) -> Response:
    """The parts, sent one after the other as a file; ``name`` is plain ASCII."""
    response = Response(parts, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
