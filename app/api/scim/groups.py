"""/scim/v2/Groups"""

from typing import Any
from uuid import UUID

from flask import Response
from scim2_models import Context, ListResponse, PatchOp, SearchRequest
from sqlalchemy.orm import Session

from app.api.scim.messages import (
    answer_resource,
    body,
    check_match,
    id_in,
    parameters,
    parsing_errors,
    read_body,
    read_response_parameters,
    scim_response,
    search_parameters,
)
from app.api.scim.patching import check_operations
from app.api.scim.resources import base_url, group_fields, group_resource
from app.api.scim.users import QUERY
from app.extensions import caller, transaction
from app.models import ScimGroup
from app.schemas import scim as wire
from app.services.scim import groups, queries
from app.services.scim.groups import not_found


def list_groups() -> Response:
    return _search_results(parameters(*QUERY), Context.RESOURCE_QUERY_RESPONSE)


def search_groups() -> Response:
    return _search_results(search_parameters(), Context.SEARCH_RESPONSE)


def create_group() -> Response:
    response_parameters = read_response_parameters(wire.Group)
    submitted = read_body(wire.Group, Context.RESOURCE_CREATION_REQUEST)
    with transaction() as session:
        group = groups.create(session, caller(), group_fields(submitted))
        members = _visible_members(session, group, response_parameters)
    return _group_response(
        group, members, Context.RESOURCE_CREATION_RESPONSE, response_parameters, 201
    )


def get_group(group_id: str) -> Response:
    response_parameters = read_response_parameters(wire.Group)
    with transaction(read_only=True) as session:
        group = groups.get(session, caller(), id_in(group_id, not_found))
        members = _visible_members(session, group, response_parameters)
    return _group_response(group, members, Context.RESOURCE_QUERY_RESPONSE, response_parameters)


def replace_group(group_id: str) -> Response:
    response_parameters = read_response_parameters(wire.Group)
    submitted = read_body(wire.Group, Context.RESOURCE_REPLACEMENT_REQUEST)
    with transaction() as session:
        group = _lock_group(session, group_id)
        groups.change(session, caller(), group, group_fields(submitted))
        members = _visible_members(session, group, response_parameters)
    return _group_response(
        group, members, Context.RESOURCE_REPLACEMENT_RESPONSE, response_parameters
    )


def patch_group(group_id: str) -> Response:
    response_parameters = read_response_parameters(wire.Group)
    with parsing_errors():
        patch = PatchOp[wire.Group].model_validate(
            check_operations(body()), scim_ctx=Context.RESOURCE_PATCH_REQUEST
        )
    with transaction() as session:
        group = _lock_group(session, group_id)
        members = groups.member_ids_of(session, [group.id]).get(group.id, [])
        resource = group_resource(group, members, base_url())
        if patch.patch(resource, scim_policy=wire.POLICY):
            groups.change(session, caller(), group, group_fields(resource))
        visible_members = _visible_members(session, group, response_parameters)
    return _group_response(
        group, visible_members, Context.RESOURCE_PATCH_RESPONSE, response_parameters
    )


def delete_group(group_id: str) -> Response:
    with transaction() as session:
        groups.remove(session, caller(), _lock_group(session, group_id))
    return Response(status=204)


def _lock_group(session: Session, group_id: str) -> ScimGroup:
    """Return the group, locked, in the version that the client has seen."""
    group = groups.get(session, caller(), id_in(group_id, not_found), for_change=True)
    check_match(f'W/"{group.version}"')
    return group


def _visible_members(
    session: Session, group: ScimGroup, response_parameters: Any
) -> list[UUID] | None:
    """Return the members unless the client doesn't request them: there can be thousands."""
    if not _requests_members(response_parameters):
        return None
    return groups.member_ids_of(session, [group.id]).get(group.id, [])


def _requests_members(params: Any) -> bool:
    if params.attributes:
        return any(_names_members(path) for path in params.attributes)
    return not any(
        str(path).lower().endswith("members") for path in params.excluded_attributes or []
    )


def _names_members(path: Any) -> bool:
    return "members" in str(path).lower()


def _search_results(params: dict[str, Any], context: Context) -> Response:
    queries.check_filter(str(params.get("filter") or ""))
    with parsing_errors():
        search = SearchRequest[wire.Group].model_validate(params)
    with transaction(read_only=True) as session:
        page = queries.find_groups(session, caller(), search)
        members: dict[UUID, list[UUID]] = {}
        if _requests_members(search):
            members = groups.member_ids_of(session, [group.id for group in page.items])
    base = base_url()
    response = ListResponse[wire.Group](
        total_results=page.total,
        start_index=page.start,
        items_per_page=len(page.items),
        resources=[group_resource(group, members.get(group.id), base) for group in page.items],
    )
    return scim_response(response.model_dump(scim_ctx=context, response_parameters=search))


def _group_response(
    group: ScimGroup,
    members: list[UUID] | None,
    context: Context,
    response_parameters: Any,
    status: int = 200,
) -> Response:
    return answer_resource(
        group_resource(group, members, base_url()), context, response_parameters, status
    )
