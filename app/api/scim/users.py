"""/scim/v2/Users"""

from typing import Any

from flask import Response
from scim2_models import Context, ListResponse, PatchOp, SearchRequest

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
from app.api.scim.resources import base_url, user_fields, user_resource
from app.extensions import caller, transaction
from app.schemas import scim as wire
from app.services.scim import queries, users
from app.services.scim.users import ScimAccount
from app.services.users.loading import not_found

QUERY = (
    "filter",
    "sortBy",
    "sortOrder",
    "startIndex",
    "count",
    "attributes",
    "excludedAttributes",
)


def list_users() -> Response:
    return _search_results(parameters(*QUERY), Context.RESOURCE_QUERY_RESPONSE)


def search_users() -> Response:
    return _search_results(search_parameters(), Context.SEARCH_RESPONSE)


def create_user() -> Response:
    response_parameters = read_response_parameters(wire.User)
    submitted = read_body(wire.User, Context.RESOURCE_CREATION_REQUEST)
    with transaction() as session:
        account = users.create(session, caller(), user_fields(submitted))
    return _user_response(account, Context.RESOURCE_CREATION_RESPONSE, response_parameters, 201)


def get_user(user_id: str) -> Response:
    response_parameters = read_response_parameters(wire.User)
    with transaction(read_only=True) as session:
        account = users.get(session, caller(), id_in(user_id, not_found))
    return _user_response(account, Context.RESOURCE_QUERY_RESPONSE, response_parameters)


def replace_user(user_id: str) -> Response:
    response_parameters = read_response_parameters(wire.User)
    submitted = read_body(wire.User, Context.RESOURCE_REPLACEMENT_REQUEST)
    with transaction() as session:
        account = _lock_account(session, user_id)
        account = users.change(session, caller(), account, user_fields(submitted))
    return _user_response(account, Context.RESOURCE_REPLACEMENT_RESPONSE, response_parameters)


def patch_user(user_id: str) -> Response:
    response_parameters = read_response_parameters(wire.User)
    with parsing_errors():
        patch = PatchOp[wire.User].model_validate(
            check_operations(body()), scim_ctx=Context.RESOURCE_PATCH_REQUEST
        )
    with transaction() as session:
        account = _lock_account(session, user_id)
        before = user_resource(account, base_url())
        after = before.model_copy(deep=True)
        if patch.patch(after, scim_policy=wire.POLICY):
            account = users.change(session, caller(), account, user_fields(after, before))
    return _user_response(account, Context.RESOURCE_PATCH_RESPONSE, response_parameters)


def delete_user(user_id: str) -> Response:
    with transaction() as session:
        users.lock_groups(session, caller(), id_in(user_id, not_found))
        users.remove(session, caller(), _lock_account(session, user_id))
    return Response(status=204)


def _lock_account(session: Any, user_id: str) -> ScimAccount:
    """Return the user, locked, in the version that the client has seen."""
    account = users.get(session, caller(), id_in(user_id, not_found), for_change=True)
    meta = user_resource(account, base_url()).meta
    check_match((meta.version if meta else None) or "")
    return account


def _search_results(params: dict[str, Any], context: Context) -> Response:
    queries.check_filter(str(params.get("filter") or ""))
    with parsing_errors():
        search = SearchRequest[wire.User].model_validate(params)
    with transaction(read_only=True) as session:
        page = queries.find_users(session, caller(), search)
    base = base_url()
    response = ListResponse[wire.User](
        total_results=page.total,
        start_index=page.start,
        items_per_page=len(page.items),
        resources=[user_resource(account, base) for account in page.items],
    )
    return scim_response(response.model_dump(scim_ctx=context, response_parameters=search))


def _user_response(
    account: ScimAccount, context: Context, response_parameters: Any, status: int = 200
) -> Response:
    return answer_resource(user_resource(account, base_url()), context, response_parameters, status)
