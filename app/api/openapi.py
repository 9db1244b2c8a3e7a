"""The OpenAPI 3.1 document, made from the declarations and classes that validate requests.

Each route with a declaration becomes an operation, from that declaration, the policy table and the
settings. The document is built once, at the first request for it.
"""

import re
from typing import Any, cast

from flask import Flask

from app.api.examples import EXAMPLES
from app.api.openapi_operation import (
    CLIENT_SCHEME,
    SCHEME_OF_AREA,
    TAG_OF_AREA,
    TOKENS,
    describe,
    item_of,
)
from app.api.operation import ATTRIBUTE, AreaBlueprint, Operation
from app.config import BaseAddresses, Settings
from app.enums import Area
from app.policy import Permission
from app.schemas.base import Wire, wire_name
from app.schemas.contacts import BulkContactsInput, CampaignContact
from app.schemas.errors import CallError, Error
from app.schemas.json_schema import component_schemas
from app.schemas.oauth import TokenError

TITLE = "Partner administration, campaign contacts and calls"
VERSION = "1.0.0"

TAGS: dict[str, str] = {
    TOKENS: "The authorization server: access tokens of the Partner API and the "
    "Legacy API by client credentials.",
    TAG_OF_AREA[Area.PARTNER_ADMIN]: "Partners, organizations, users, pricing, subscription, "
    "usage and report. Bearer token.",
    TAG_OF_AREA[Area.PUBLIC]: "Contacts of campaigns in bulk and single outbound calls. "
    "Header x-api-key. Contacts that a test key adds are real: a campaign that is running calls "
    "them.",
    TAG_OF_AREA[Area.LEGACY_CALLS]: "Single calls. Retired; use POST "
    "/api/v1/outbound/call of the Campaigns API.",
}


def openapi_document(app: Flask) -> dict[str, Any]:
    """Return the document; it is built at the first call."""
    if "openapi" not in app.extensions:
        app.extensions["openapi"] = _made(app, app.extensions["settings"])
    return cast(dict[str, Any], app.extensions["openapi"])


def openapi_document_at(app: Flask, public: str) -> dict[str, Any]:
    """Return the document as it is published at another public address of the installation."""
    document = openapi_document(app)
    addresses = app.extensions["settings"].addresses_at(public)
    components = document["components"] | {"securitySchemes": _security_schemes(addresses)}
    return document | {"servers": [{"url": public}], "components": components}


def _made(app: Flask, settings: Settings) -> dict[str, Any]:
    models: list[type[Wire]] = [Error, CallError, TokenError, CampaignContact]
    paths: dict[str, dict[str, Any]] = {}
    for rule in app.url_map.iter_rules():
        declared: Operation | None = getattr(app.view_functions[rule.endpoint], ATTRIBUTE, None)
        if declared is None:
            continue
        area = cast(AreaBlueprint, app.blueprints[rule.endpoint.rpartition(".")[0]]).area
        path = re.sub(r"<(?:[^<:]+:)?([^>]+)>", r"{\1}", rule.rule)
        described = describe(rule.endpoint, path, area, declared)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            paths.setdefault(_wire_path(path), {})[method.lower()] = described
        read = (declared.body, declared.form, item_of(declared.output))
        models += [model for model in read if model is not None]
    schemas = component_schemas(models)
    for name in EXAMPLES.keys() & schemas.keys():
        schemas[name]["examples"] = [EXAMPLES[name]]
    if BulkContactsInput.__name__ in schemas:
        contacts = schemas[BulkContactsInput.__name__]["properties"]["contacts"]
        contacts["maxItems"] = settings.max_contacts
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": VERSION, "description": _introduction(settings)},
        "servers": [{"url": settings.public_url.rstrip("/")}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": dict(sorted(paths.items(), key=_place)),
        "components": {
            "schemas": schemas,
            "securitySchemes": _security_schemes(settings.addresses),
        },
    }


def _introduction(settings: Settings) -> str:
    return (
        "Every answer carries X-Request-Id. Every refusal has a stable code in details.code and "
        "names each field in details.errors. POST /api/v1/outbound/call and the Legacy API ignore "
        "unknown fields, contacts of a campaign keep them as metadata, and everything else refuses "
        "them. Fields, statuses and operations marked x-addition are additions to version "
        f"{VERSION} of the interface. Each credential may send {settings.rate_per_second} requests "
        f"a second, with bursts of {settings.rate_burst}."
    )


def _place(item: tuple[str, dict[str, Any]]) -> int:
    """Paths are ordered by area, then as their views are."""
    [tag] = next(iter(item[1].values()))["tags"]
    return list(TAGS).index(tag)


def _wire_path(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: "{" + wire_name(match[1]) + "}", path)


def _security_schemes(addresses: BaseAddresses) -> dict[str, Any]:
    token_url = f"{addresses.auth}/oauth2/token"
    flow = {"tokenUrl": token_url, "scopes": {Permission.LEGACY_CALL.value: "Place calls"}}
    return {
        CLIENT_SCHEME: {
            "type": "http",
            "scheme": "basic",
            "description": "Client id and secret, here or in the form.",
        },
        SCHEME_OF_AREA[Area.PARTNER_ADMIN]: {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": f"An access token of {token_url}, for the Partner API; it lives one "
            "hour.",
        },
        SCHEME_OF_AREA[Area.LEGACY_CALLS]: {
            "type": "oauth2",
            "description": "An access token for the Legacy API; its client is issued by support.",
            "flows": {"clientCredentials": flow},
        },
        SCHEME_OF_AREA[Area.PUBLIC]: {
            "type": "apiKey",
            "in": "header",
            "name": "x-api-key",
            "description": "A key of the organization, made in the portal.",
        },
    }
