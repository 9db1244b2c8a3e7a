"""A user as the contract's resource."""

from app.models import User
from app.schemas import users as wire


def to_resource(user: User) -> wire.User:
    return wire.User.model_construct(
        id=user.id,
        email=user.email,
        name=user.name,
        admin_owned=user.admin_owned,
        created_at=user.created_at,
        updated_at=user.updated_at,
        unsubscribe=user.unsubscribe,
        last_session=user.last_session,
        idp_uid=user.idp_uid,
        org_id=user.organization_id,
        last_sign_in=user.last_sign_in,
        status=user.status.value,
        user_type=user.user_type,
    )
