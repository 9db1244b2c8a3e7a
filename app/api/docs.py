"""The published description: the OpenAPI document and a page made from it, both public."""

from hashlib import sha256
from typing import cast

import orjson
from flask import Blueprint, Flask, Response, current_app, render_template, request

from app.api.docs_page import page_of
from app.api.openapi import openapi_document
from app.extensions import settings

blueprint = Blueprint("api_docs", __name__)
CACHE = "openapi_bytes"


@blueprint.get("/api/openapi.json")
def openapi_json() -> Response:
    """The OpenAPI document."""
    body = _encoded(current_app)
    response = Response(body, mimetype="application/json")
    response.set_etag(sha256(body).hexdigest()[:32])
    response.headers["Cache-Control"] = "no-cache"
    response.make_conditional(request)
    return response


@blueprint.get("/api/docs")
def docs() -> Response:
    """The same as a page for people."""
    document = openapi_document(current_app)
    page = page_of(document, settings())
    response = Response(render_template("api/docs.html", page=page), mimetype="text/html")
    response.headers["Cache-Control"] = "no-cache"
    return response


def _encoded(app: Flask) -> bytes:
    if CACHE not in app.extensions:
        app.extensions[CACHE] = orjson.dumps(openapi_document(app))
    return cast(bytes, app.extensions[CACHE])
