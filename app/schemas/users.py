"""User and its inputs (contract, sections 2.5 and 2.6)."""

from typing import Annotated, ClassVar

from pydantic import Field

from app.enums import Role, Tier, UserStatus
from app.schemas.base import ADDITION, Input, Resource
from app.schemas.checks import Omittable, OneOf
from app.schemas.fields import Email, Moment, Name, TimeZone, Uuid

UserTypes = OneOf(Role.STANDARD, Role.ADMIN, Role.PARTNER_ADMIN, Role.PARTNER_EDITOR)
"""Every role of the contract; operators exist on the command line only."""

AnyTier = Annotated[Tier, OneOf(*Tier)]


class User(Resource):
    """A user."""

    id: Uuid
    email: Annotated[str, Field(json_schema_extra={"format": "email"})]
    name: str | None = None
    admin_owned: bool = False
    created_at: Moment
    updated_at: Moment
    unsubscribe: bool = True
    last_session: Moment | None = None
    idp_uid: str | None = None
    org_id: Uuid | None = None
    last_sign_in: Moment | None = None
    status: str = UserStatus.ACTIVE.value
    user_type: Annotated[
        Omittable[Annotated[Role, UserTypes]], Field(json_schema_extra=ADDITION)
    ] = None
    """Added to the contract: the user's role."""


class CreateUserInput(Input):
    """A new user. A standard user comes with an organization of their own."""

    email: Email
    user_type: Annotated[Role, UserTypes]
    tier: AnyTier | None = None
    business_name: Name | None = None
    service: Name | None = None
    assistant_timezone: TimeZone | None = None


class CreatePartialUserInput(Input):
    """An invitation into an organization that exists."""

    email: Email
    org_id: Uuid
    name: Name | None = None


class UpdateUserInput(Input):
    """A partial change; null changes nothing."""

    resource: ClassVar[type[Resource] | None] = User

    payment_tier: AnyTier | None = None
    email: Email | None = None


class CreateAdminInput(Input):
    """A new user of type admin."""

    email: Email


class Message(Resource):
    """A sentence about the result."""

    message: str
