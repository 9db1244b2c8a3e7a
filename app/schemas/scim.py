"""Users and groups as SCIM resources (RFC 7643): what a directory reads and writes.

Attributes that aren't listed here are accepted and ignored: directories send many.
"""

from typing import Annotated, Any

from pydantic import Field
from scim2_models import (
    URN,
    CaseExact,
    ComplexAttribute,
    Mutability,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    Uniqueness,
)


class Name(ComplexAttribute):
    """The parts of a name."""

    family_name: str | None = None
    given_name: str | None = None


class Email(ComplexAttribute):
    """An address; a user has one, which is the ``userName``."""

    value: str | None = None
    type: str | None = None
    primary: bool | None = None


class GroupMembership(ComplexAttribute):
    """A group of a user."""

    value: Annotated[str | None, Mutability.read_only, CaseExact.true] = None
    ref: Annotated[Reference["Group"] | None, Mutability.read_only] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    display: Annotated[str | None, Mutability.read_only] = None


class User(Resource[Any]):
    """A user account."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The email address with which the user signs in."""
    name: Name | None = None
    display_name: str | None = None
    user_type: Annotated[str | None, Mutability.read_only] = None
    """The role, which the groups give."""
    active: bool | None = None
    emails: list[Email] | None = None
    groups: Annotated[list[GroupMembership] | None, Mutability.read_only] = None


class GroupMember(ComplexAttribute):
    """A user in a group. What directories send beside the id is ignored."""

    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    ref: Annotated[Reference["User"] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])


class Group(Resource[Any]):
    """A group of the directory."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    display_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    members: list[GroupMember] | None = None


POLICY = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
"""How far requests may deviate from the standard: as Microsoft Entra needs it."""
