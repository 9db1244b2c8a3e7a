"""/api/users, /api/admins and /api/partners/{partnerId}/users"""

from uuid import UUID

from flask import Response

from app.api.operation import operation
from app.api.paging import NumberedPage, listing
from app.api.partner_admin.blueprint import blueprint, unknown_is_bad_request
from app.api.partner_admin.partners import NO_PARTNER
from app.extensions import caller, settings, transaction
from app.schemas.paging import PageQuery
from app.schemas.users import (
    CreateAdminInput,
    CreatePartialUserInput,
    CreateUserInput,
    Message,
    UpdateUserInput,
    User,
)
from app.services import partners, users

EMAIL = {"email_exists": "The partner has a user with this address."}
OPERATOR = {"operator_without_partner": "The credential is an operator's and has no partner."}
ROLE = {"role_too_low": "The role may not create or change users of this type."}


@blueprint.get("/partners/<partner_id>/users")
@operation(
    summary="List the users of a partner",
    output=list[User],
    query=PageQuery,
    errors={404: NO_PARTNER},
)
def list_partner_users(partner_id: UUID, query: PageQuery) -> Response:
    """In the order in which they were created. An admin sees standard users only."""
    with transaction(read_only=True) as session:
        resources = users.listing(session, caller(), partner_id)
    return listing(resources, NumberedPage.of(query))


@blueprint.post("/partners/<partner_id>/users")
@operation(
    summary="Create a user of a partner",
    output=User,
    body=CreateUserInput,
    errors={400: EMAIL, 403: ROLE, 404: NO_PARTNER},
)
def create_partner_user(partner_id: UUID, body: CreateUserInput) -> User:
    """A `standard` user comes with an organization named `businessName`, on `tier`, and with one
    assistant; for the other types these fields are checked and have no effect."""
    with transaction() as session:
        in_trial = settings().new_organizations_in_trial
        created = users.create(session, caller(), partner_id, body, in_trial=in_trial)
        return users.to_resource(created)


@blueprint.post("/users")
@operation(
    summary="Create a user",
    output=User,
    body=CreateUserInput,
    errors={400: EMAIL | OPERATOR, 403: ROLE},
)
def create_user(body: CreateUserInput) -> User:
    """For the partner of the token; otherwise as for the users of a partner."""
    with transaction() as session:
        in_trial = settings().new_organizations_in_trial
        created = users.create(
            session, caller(), partners.own_partner_id(caller()), body, in_trial=in_trial
        )
        return users.to_resource(created)


@blueprint.post("/users/partial")
@operation(
    summary="Invite a user into an organization",
    output=User,
    body=CreatePartialUserInput,
    errors={
        400: {
            **EMAIL,
            **OPERATOR,
            "organization_not_found": "The partner has no such organization.",
            "user_limit_reached": "The organization has as many users as its userLimit.",
            "archived": "The organization is archived.",
        }
    },
)
def create_partial_user(body: CreatePartialUserInput) -> User:
    """A `standard` user of an organization that exists, `invited` until they accept."""
    with unknown_is_bad_request(), transaction() as session:
        return users.to_resource(users.create_partial(session, caller(), body))


@blueprint.put("/users/<external_id:external_user_id>")
@operation(
    summary="Change a user",
    output=Message,
    body=UpdateUserInput,
    errors={
        400: {
            **EMAIL,
            **OPERATOR,
            "user_not_found": "The partner has no such user.",
            "erased": "The user was erased; create them again with their address.",
            "no_organization": "The user has no organization, so paymentTier means nothing.",
        }
    },
)
def update_user(external_user_id: str, body: UpdateUserInput) -> Message:
    """`externalUserId` is the user's `idpUid`, else the `id`. `paymentTier` changes the plan of
    the user's organization. Null changes nothing."""
    with unknown_is_bad_request(), transaction() as session:
        partners.own_partner_id(caller())
        users.update(session, caller(), external_user_id, body)
    return Message(message="The user was updated.")


@blueprint.post("/admins")
@operation(
    summary="Create an admin",
    output=User,
    body=CreateAdminInput,
    errors={
        400: EMAIL | OPERATOR,
        404: {"not_found": "Never answered: the partner is that of the token."},
    },
)
def create_admin(body: CreateAdminInput) -> User:
    """A user of type `admin` of the partner of the token."""
    with transaction() as session:
        return users.to_resource(users.create_admin(session, caller(), body))
