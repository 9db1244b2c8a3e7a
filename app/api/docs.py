"""The published description: the OpenAPI document and a page made from it, both public."""

import json
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

import orjson
from flask import Blueprint, Response, current_app, g, render_template, request
from sqlalchemy.exc import SQLAlchemyError

from app.api.error_codes import EVERY_BODY
from app.api.examples import error_example
from app.api.openapi import openapi_document, openapi_document_at
from app.api.quick_start import commands
from app.extensions import public_url, scope_of, settings, transaction
from app.http.security_headers import allow_viewer_styles
from app.languages import DEFAULT, gettext, language, using_language
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas import checks
from app.schemas.errors import Error
from app.services import campaigns
from app.services.credentials import api_keys
from app.services.credentials.api_keys import ApiKeyFilter
from app.services.credentials.secrets import PATTERN

blueprint = Blueprint("api_docs", __name__)
CACHE = "openapi_bytes"


@blueprint.get("/api/openapi.json")
def openapi_json() -> Response:
    """The OpenAPI document."""
    public = public_url()
    if public == settings().public_url.rstrip("/"):
        cache = current_app.extensions
        body: bytes = cache.get(CACHE) or cache.setdefault(
            CACHE, orjson.dumps(openapi_document(current_app))
        )
    else:
        body = orjson.dumps(openapi_document_at(current_app, public))
    response = Response(body, mimetype="application/json")
    response.set_etag(sha256(body).hexdigest()[:32])
    response.headers["Cache-Control"] = "no-cache"
    response.make_conditional(request)
    return response


@dataclass(frozen=True, slots=True)
class OwnKey:
    """The reader's newest active key, and the newest campaign whose contacts it may read."""

    public_id: str
    campaign_id: UUID | None


def _own_key() -> OwnKey | None:
    """Return None for visitors, users who may not see keys, and without a database."""
    reader: Caller | None = g.get("caller")
    if reader is None or not reader.may(Permission.CREDENTIALS_MANAGE):
        return None
    with suppress(SQLAlchemyError), transaction(read_only=True, scope=scope_of(reader)) as session:
        keys = api_keys.search(session, reader, ApiKeyFilter(in_use=True), limit=1).items
        if not keys:
            return None
        key = keys[0]
        if Permission.CONTACTS_READ not in key.scopes:
            return OwnKey(key.public_id, None)
        current_filter = campaigns.CampaignFilter(organization_id=key.organization_id)
        current = campaigns.search(session, reader, current_filter, limit=1).items
        return OwnKey(key.public_id, current[0].id if current else None)
    return None


@blueprint.get("/api/docs")
def docs() -> Response:
    """The documentation page: a short guide, then the document in a viewer (Redoc,
    served locally)."""
    allow_viewer_styles()
    public = public_url()
    refusal = error_example(Error, 400, ("required", "This is required."))
    reader, notice = language(), gettext("This documentation is in English only.")
    own, addresses = _own_key(), settings().addresses_at(public)
    with using_language(DEFAULT):
        page = render_template(
            "api/docs.html",
            document=openapi_document_at(current_app, public),
            commands=commands(public, addresses.auth, own.campaign_id if own else None),
            settings=settings(),
            limits=checks,
            secret_pattern=PATTERN,
            codes=sorted(EVERY_BODY.items()),
            refusal=json.dumps(refusal, indent=2),
            newest_key=own,
            reader=reader,
            notice=notice,
        )
    response = Response(page, mimetype="text/html")
    response.headers["Cache-Control"] = "private, no-cache"  # its brand is that of the visitor
    return response
