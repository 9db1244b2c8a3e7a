"""/api/partners/{partnerId}/organizations"""

from uuid import UUID

from flask import Response

from app.api.operation import operation
from app.api.paging import NumberedPage, listing
from app.api.partner_admin.blueprint import blueprint
from app.api.partner_admin.partners import NO_PARTNER
from app.extensions import caller, transaction
from app.schemas.organizations import Organization, UpdateOrganizationInput
from app.schemas.paging import PageQuery
from app.schemas.users import User
from app.services import organizations, users

NO_ORGANIZATION = {
    **NO_PARTNER,
    "organization_not_found": "The partner has no such organization.",
}


@blueprint.get("/partners/<partner_id>/organizations")
@operation(
    summary="List the organizations of a partner",
    output=list[Organization],
    query=PageQuery,
    errors={404: NO_PARTNER},
)
def list_organizations(partner_id: UUID, query: PageQuery) -> Response:
    """In the order in which they were created."""
    with transaction(read_only=True) as session:
        resources = organizations.listing(session, caller(), partner_id)
    return listing(resources, NumberedPage.of(query))


@blueprint.get("/partners/<partner_id>/organizations/<organization_id>/users")
@operation(
    summary="List the users of an organization",
    output=list[User],
    query=PageQuery,
    errors={404: NO_ORGANIZATION},
)
def list_organization_users(partner_id: UUID, organization_id: UUID, query: PageQuery) -> Response:
    """In the order in which they were created."""
    with transaction(read_only=True) as session:
        resources = users.listing(session, caller(), partner_id, organization_id)
    return listing(resources, NumberedPage.of(query))


@blueprint.put("/partners/<partner_id>/organizations/<organization_id>")
@operation(
    summary="Change an organization",
    output=Organization,
    body=UpdateOrganizationInput,
    errors={404: NO_ORGANIZATION},
)
def update_organization(
    partner_id: UUID, organization_id: UUID, body: UpdateOrganizationInput
) -> Organization:
    """A partial merge, as for partners. A limit of 0 means no limit; a limit below what is in use
    takes nothing away, it stops additions."""
    with transaction() as session:
        changed = organizations.update(
            session, caller(), organization_id, body, partner_id=partner_id
        )
        return organizations.to_resource(changed)
