"""The OpenAPI 3.1 document, made from the declarations and classes that validate requests.

Each route with a declaration becomes an operation, from that declaration, the policy table and the
settings. The document is built once, at the first request for it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from flask import Flask
from werkzeug.routing import Rule

from app.api.examples import EXAMPLES
from app.api.openapi_operation import describe, item_of
from app.api.operation import ATTRIBUTE, AreaBlueprint, AreaDescription, Operation
from app.config import BaseAddresses, Settings
from app.schemas.base import Wire, wire_name
from app.schemas.contacts import BulkContactsInput, CampaignContact
from app.schemas.errors import CallError, Error
from app.schemas.json_schema import component_schemas
from app.schemas.oauth import TokenError

TITLE = "Partner administration, campaign contacts and calls"
VERSION = "1.0.0"


def openapi_document(app: Flask) -> dict[str, Any]:
    """Return the document; it is built at the first call."""
    if "openapi" not in app.extensions:
        app.extensions["openapi"] = _build_document(app, app.extensions["settings"])
    return cast(dict[str, Any], app.extensions["openapi"])


def openapi_document_at(app: Flask, public: str) -> dict[str, Any]:
    """Return the document as published at another public URL of the installation."""
    document = openapi_document(app)
    addresses = app.extensions["settings"].addresses_at(public)
    components = document["components"] | {
        "securitySchemes": _security_schemes(_areas_by_name(app).values(), addresses)
    }
    return document | {"servers": [{"url": public}], "components": components}


def _build_document(app: Flask, settings: Settings) -> dict[str, Any]:
    areas = _areas_by_name(app)
    models: list[type[Wire]] = [Error, CallError, TokenError, CampaignContact]
    paths: dict[str, dict[str, Any]] = {}
    for rule, area, declared in _declared_routes(app, areas):
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
        "info": {"title": TITLE, "version": VERSION, "description": _description(settings)},
        "servers": [{"url": settings.public_url.rstrip("/")}],
        "tags": [{"name": area.tag, "description": area.text} for area in areas.values()],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": _security_schemes(areas.values(), settings.addresses),
        },
    }


def _description(settings: Settings) -> str:
    return (
        "Every answer carries X-Request-Id. Every refusal has a stable code in details.code and "
        "names each field in details.errors. POST /api/v1/outbound/call and the Legacy API ignore "
        "unknown fields, contacts of a campaign keep them as metadata, and everything else refuses "
        "them. Fields, statuses and operations marked x-addition are additions to version "
        f"{VERSION} of the interface. Each credential may send {settings.rate_per_second} requests "
        f"a second, with bursts of {settings.rate_burst}."
    )


def _areas_by_name(app: Flask) -> dict[str, AreaDescription]:
    """Return the areas by the names of their blueprints, in the order of their registration."""
    return {
        name: blueprint.description
        for name, blueprint in app.blueprints.items()
        if isinstance(blueprint, AreaBlueprint)
    }


def _declared_routes(
    app: Flask, areas: Mapping[str, AreaDescription]
) -> Iterator[tuple[Rule, AreaDescription, Operation]]:
    """Return the declared routes by area, in the order of their views."""
    for name, area in areas.items():
        for rule in app.url_map.iter_rules():
            declared = getattr(app.view_functions[rule.endpoint], ATTRIBUTE, None)
            if declared is not None and rule.endpoint.rpartition(".")[0] == name:
                yield rule, area, declared


def _wire_path(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: "{" + wire_name(match[1]) + "}", path)


def _security_schemes(areas: Iterable[AreaDescription], addresses: BaseAddresses) -> dict[str, Any]:
    token_url = f"{addresses.auth}/oauth2/token"
    return {area.scheme_name: area.scheme(token_url) for area in areas}
