"""The supported and unsupported features of the area, and its resources (RFC 7644, section 4)."""

from typing import Any

from flask import Response, request
from scim2_models import (
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    Context,
    ETag,
    Filter,
    ListResponse,
    Patch,
    Resource,
    ResourceType,
    Schema,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
)
from werkzeug.exceptions import NotImplemented as NotOffered

from app.api.scim.messages import scim_response
from app.api.scim.resources import base_url
from app.errors import Forbidden, NotFound
from app.schemas import scim as wire
from app.services.scim.queries import MAX_RESULTS

CONFIG = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=MAX_RESULTS),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=True),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="SCIM token",
            description="A token of the portal's settings: Authorization: Bearer pps_…",
            primary=True,
        )
    ],
)
PROVIDER = ScimProvider(models=[wire.User, wire.Group], config=CONFIG, policy=wire.POLICY)


def service_provider_config() -> Response:
    return scim_response(_describe_resource(CONFIG, "ServiceProviderConfig", ""))


def list_resource_types() -> Response:
    return _list_response([_resource_type(each) for each in PROVIDER.resource_types])


def get_resource_type(name: str) -> Response:
    for resource_type in PROVIDER.resource_types:
        if resource_type.id == name:
            return scim_response(_resource_type(resource_type))
    raise NotFound


def list_schemas() -> Response:
    return _list_response([_describe_schema(each) for each in PROVIDER.schemas])


def get_schema(schema_id: str) -> Response:
    for schema in PROVIDER.schemas:
        if str(schema.id).lower() == schema_id.lower():
            return scim_response(_describe_schema(schema))
    raise NotFound


def me() -> Response:
    raise NotOffered("A directory's token is not a user. Use /Users.")


def bulk() -> Response:
    raise NotOffered("Bulk requests are not offered. Send single requests.")


def search_all() -> Response:
    raise NotOffered("Use /Users/.search or /Groups/.search.")


def _resource_type(resource_type: ResourceType) -> dict[str, Any]:
    return _describe_resource(resource_type, "ResourceType", f"s/{resource_type.id}")


def _describe_schema(schema: Schema) -> dict[str, Any]:
    return _describe_resource(schema, "Schema", f"s/{schema.id}")


def _describe_resource(resource: Resource[Any], kind: str, path: str) -> dict[str, Any]:
    """Return a description with its kind and address."""
    described: dict[str, Any] = resource.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE)
    described["meta"] = {"resourceType": kind, "location": f"{base_url()}/{kind}{path}"}
    return described


def _list_response(resources: list[dict[str, Any]]) -> Response:
    """Return all descriptions. They can't be filtered. Raises `Forbidden`."""
    if "filter" in request.args:
        message = "Descriptions of the service can't be filtered."
        raise Forbidden(message, "filter_not_allowed")
    return scim_response(
        {
            "schemas": [ListResponse.__schema__],
            "totalResults": len(resources),
            "startIndex": 1,
            "itemsPerPage": len(resources),
            "Resources": resources,
        }
    )
