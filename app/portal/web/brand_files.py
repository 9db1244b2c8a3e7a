"""The files of a brand: its style sheet and its pictures, each under a content hash."""

from flask import Response, abort, request, url_for

from app.extensions import transaction
from app.portal.web.blueprint import portal
from app.services.branding import images
from app.services.branding.brand import Brand
from app.services.branding.chat_colours import chat_sheet, sheet_at
from app.services.branding.shades import sheet_for

_IMMUTABLE_CACHE = "public, max-age=31536000, immutable"


def stylesheet_url(colour: str) -> str:
    """Return the URL of the sheet for a colour; it changes with the colour or the shades."""
    sheet = sheet_for(colour)
    return url_for("portal.brand_stylesheet", colour=sheet.colour.lstrip("#"), digest=sheet.digest)


def chat_stylesheet_url(brand: Brand) -> str:
    """Return the URL of the chat window's sheet; it contains the sheet's colours."""
    sheet = chat_sheet(brand.colour, brand.chat_colours)
    return url_for("portal.chat_stylesheet", colours=sheet.address, digest=sheet.digest)


@portal.get("/brand/<colour>-<digest>.css")
def brand_stylesheet(colour: str, digest: str) -> Response:
    """Return the style sheet, made from the URL only, so that an error page has its colours without
    a database."""
    if len(colour) != 6 or not colour.isascii() or not colour.isalnum():
        abort(404)
    try:
        sheet = sheet_for(f"#{colour}")
    except ValueError:
        abort(404)
    if sheet.digest != digest:
        abort(404)
    return _cached_forever(sheet.css.encode(), "text/css; charset=utf-8", digest)


@portal.get("/brand/chat/<colours>-<digest>.css")
def chat_stylesheet(colours: str, digest: str) -> Response:
    try:
        sheet = sheet_at(colours)
    except ValueError:
        abort(404)
    if sheet.digest != digest:
        abort(404)
    return _cached_forever(sheet.css.encode(), "text/css; charset=utf-8", digest)


@portal.get("/brand/images/<sha256>")
def brand_image(sha256: str) -> Response:
    """Return an uploaded or fetched picture; its URL is its content hash, so it is public and never
    changes."""
    with transaction(read_only=True) as session:
        data, content_type = images.by_hash(session, sha256)
    return _cached_forever(data, content_type, sha256)


def _cached_forever(body: bytes, content_type: str, tag: str) -> Response:
    response = Response(body, content_type=content_type)
    response.headers["Cache-Control"] = _IMMUTABLE_CACHE
    response.set_etag(tag)
    response.make_conditional(request)
    return response
