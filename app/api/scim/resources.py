"""Conversion between accounts and groups of the services and SCIM resources."""

from collections.abc import Sequence
from uuid import UUID

from scim2_models import Context, Meta, Reference

from app.api.scim.messages import version_of
from app.errors import ValidationFailed
from app.extensions import public_url
from app.models import ScimGroup
from app.schemas import scim as wire
from app.services.scim import PREFIX, groups, users
from app.services.scim.users import ScimAccount
from app.validation.uuids import as_hyphenated_uuid

WORK = "work"


def base_url() -> str:
    """Return the URL of the area as the directory knows it."""
    return public_url() + PREFIX


def user_resource(account: ScimAccount, base: str) -> wire.User:
    user, stored = account.user, account.stored
    given_name = stored.given_name if stored else None
    family_name = stored.family_name if stored else None
    resource = wire.User(
        id=str(user.id),
        external_id=stored.external_id if stored else None,
        user_name=user.email,
        name=wire.Name(given_name=given_name, family_name=family_name)
        if given_name or family_name
        else None,
        display_name=user.name,
        user_type=user.role.value,
        active=account.is_active,
        emails=[wire.Email(value=user.email, type=WORK, primary=True)],
        groups=[
            wire.GroupMembership(
                value=str(group.id),
                ref=Reference(f"{base}/Groups/{group.id}"),
                display=group.display_name,
            )
            for group in account.groups
        ]
        or None,
        meta=Meta(
            resource_type="User",
            created=user.created_at,
            last_modified=user.updated_at,
            location=f"{base}/Users/{user.id}",
        ),
    )
    return _set_version(resource)


def group_resource(group: ScimGroup, member_ids: Sequence[UUID] | None, base: str) -> wire.Group:
    """Return a group; without members if their ids are None."""
    return wire.Group(
        id=str(group.id),
        external_id=group.external_id,
        display_name=group.display_name,
        members=[
            wire.GroupMember(
                value=str(user_id),
                ref=Reference(f"{base}/Users/{user_id}"),
                type="User",
            )
            for user_id in member_ids or []
        ]
        or None,
        meta=Meta(
            resource_type="Group",
            created=group.created_at,
            last_modified=group.updated_at,
            location=f"{base}/Groups/{group.id}",
            version=f'W/"{group.version}"',
        ),
    )


def user_fields(submitted: wire.User, before: wire.User | None = None) -> users.ScimUserFields:
    """Return the fields of a user in a resource. ``before`` is the resource that a patch changed: a
    new address in ``emails`` counts if ``userName`` has not changed."""
    email = (submitted.user_name or "").strip()
    if before is not None and email == before.user_name:
        email = _new_address(submitted, email) or email
    given_name = _stripped_or_none(submitted.name.given_name) if submitted.name else None
    family_name = _stripped_or_none(submitted.name.family_name) if submitted.name else None
    name = (
        _stripped_or_none(submitted.display_name)
        or " ".join(name_part for name_part in (given_name, family_name) if name_part)
        or None
    )
    return users.ScimUserFields(
        email=email,
        name=name,
        given_name=given_name,
        family_name=family_name,
        external_id=submitted.external_id or None,
        active=submitted.active,
    )


def group_fields(submitted: wire.Group) -> groups.ScimGroupFields:
    """Return the fields of a group. Raises `ValidationFailed` (``user_not_found``) for members that
    aren't users."""
    ids = set()
    for member in submitted.members or []:
        identifier = as_hyphenated_uuid(member.value or "")
        if identifier is None:
            message = "A member is not a user of this directory. Groups can't be members."
            raise ValidationFailed.on("members", "user_not_found", message)
        ids.add(UUID(str(identifier)))
    return groups.ScimGroupFields(
        display_name=submitted.display_name or "",
        external_id=submitted.external_id or None,
        member_ids=frozenset(ids),
    )


def _set_version(resource: wire.User) -> wire.User:
    content = resource.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE)
    if resource.meta is not None:
        resource.meta.version = version_of(content)
    return resource


def _new_address(submitted: wire.User, current_email: str) -> str | None:
    """Return the address in ``emails`` that the user doesn't have yet, the one marked as work or
    primary first. Private and other addresses, which have another type, aren't sign-in names."""
    addresses = [
        entry
        for entry in submitted.emails or []
        if (entry.value or "").strip() not in ("", current_email)
        and (entry.type or WORK).lower() == WORK
    ]
    ranked = sorted(addresses, key=lambda entry: (entry.type is None, not entry.primary))
    return (ranked[0].value or "").strip() if ranked else None


def _stripped_or_none(value: str | None) -> str | None:
    return (value or "").strip() or None
