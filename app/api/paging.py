"""Parts of long lists: numbered pages (Area A) and cursors (Area C)."""

import base64
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import orjson
from flask import Response, request

from app.database import Database
from app.errors import ValidationFailed
from app.extensions import database, transaction
from app.schemas.base import Wire
from app.schemas.paging import DEFAULT_PER_PAGE, CursorQuery, PageQuery
from app.services.paging import Listing

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NumberedPage:
    """A numbered page, or the whole list if neither parameter was sent."""

    number: int | None
    size: int

    @classmethod
    def of(cls, query: PageQuery) -> "NumberedPage":
        """Return the page that ``?page=`` and ``?perPage=`` select."""
        if query.page is None and query.per_page is None:
            return cls(None, 0)
        return cls(query.page or 1, query.per_page or DEFAULT_PER_PAGE)


def listing(listed: Listing[Any, Any], page: NumberedPage) -> Response:
    """Return a bare array: the whole list, streamed, or the selected page with its two headers.

    A whole list is read in chunks, each in its own transaction that ends before its bytes are sent;
    the first chunk is read here, so that a failure still gets an error response.
    """
    if page.number is None:
        with transaction(read_only=True) as session:
            items, position = listed.chunk(session)
        return Response(
            _stream_list(database(), listed, items, position), mimetype="application/json"
        )
    with transaction(read_only=True) as session:
        total = listed.total(session)
        items = listed.page(session, page.number, page.size)
    return _page_response(items, page.number, page.size, total)


def short_listing(items: Sequence[Wire], page: NumberedPage) -> Response:
    """As `listing`, for a list that is read whole."""
    if page.number is None:
        return json_list(items)
    start = (page.number - 1) * page.size
    return _page_response(items[start : start + page.size], page.number, page.size, len(items))


def _page_response(items: Iterable[Wire], number: int, size: int, total: int) -> Response:
    response = json_list(items)
    response.headers["X-Total-Count"] = str(total)
    response.headers["Link"] = page_links(number, size, total)
    return response


def _stream_list(
    source: Database, resources: Listing[Any, Any], items: list[Any], position: Any
) -> Iterator[bytes]:
    yield b"["
    yield _join_json(items)
    while position is not None:
        with source.transaction(read_only=True) as session:
            items, position = resources.chunk(session, position)
        if items:
            yield b"," + _join_json(items)
    yield b"]"


def page_links(number: int, size: int, total: int) -> str:
    """Return the value of ``Link`` for a numbered page of the requested list."""
    last = max(1, -(-total // size))
    numbers = {"first": 1, "last": last}
    if number > 1:
        numbers["prev"] = min(number - 1, last)
    if number < last:
        numbers["next"] = number + 1
    return ", ".join(
        f'<{_current_url(page=str(to), perPage=str(size))}>; rel="{name}"'
        for name, to in numbers.items()
    )


@dataclass(frozen=True, slots=True)
class CreationCursor:
    """A position in a list ordered by creation: the last item of the previous part."""

    at: datetime
    id: UUID


def start_position(query: CursorQuery) -> CreationCursor | None:
    """Return the position to continue from, None for the start. Raises `ValidationFailed`."""
    if query.cursor is None:
        return None
    try:
        raw = base64.b64decode(f"{query.cursor}==", altchars=b"-_", validate=True)
        created_at = _EPOCH + timedelta(microseconds=int.from_bytes(raw[:8]))
        return CreationCursor(created_at, UUID(bytes=raw[8:]))
    except (ValueError, OverflowError):
        message = "Unknown cursor. Copy it unchanged from the Link header."
        raise ValidationFailed.on("cursor", "invalid_cursor", message) from None


def cursor_listing(
    items: Iterable[Wire | dict[str, Any]], following: CreationCursor | None
) -> Response:
    """Return a bare array; ``following`` is the last item's position if there are more items."""
    response = json_list(items)
    if following is not None:
        microseconds = (following.at - _EPOCH) // timedelta(microseconds=1)
        raw = microseconds.to_bytes(8) + following.id.bytes
        cursor = base64.urlsafe_b64encode(raw).decode().rstrip("=")
        response.headers["Link"] = f'<{_current_url(cursor=cursor)}>; rel="next"'
    return response


def json_list(items: Iterable[Wire | dict[str, Any]]) -> Response:
    """Return the items as a JSON array. Dictionaries must already have wire names and JSON
    values."""
    return Response(b"[" + _join_json(items) + b"]", mimetype="application/json")


def _join_json(items: Iterable[Wire | dict[str, Any]]) -> bytes:
    return b",".join(map(_encode_item, items))


def _encode_item(item: Wire | dict[str, Any]) -> bytes:
    if isinstance(item, Wire):
        return item.__pydantic_serializer__.to_json(item, by_alias=True)
    return orjson.dumps(item)


def _current_url(**changes: str) -> str:
    arguments = request.args.to_dict() | changes
    return f"{request.base_url}?{urlencode(arguments)}"
