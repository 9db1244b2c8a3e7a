"""No user grants a role above their own, changes their own, or removes the last administrator."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import Conflict, DomainError, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, PortalSession, User
from app.services import users
from app.services.auth import sessions
from app.services.users.loading import MEMBERS
from tests.fixtures.tenants import STAFF, Tenant, make_tenant, make_user

MAY_CREATE = {
    Role.OPERATOR: {*STAFF, *MEMBERS},
    Role.PARTNER_ADMIN: {*STAFF, *MEMBERS},
    Role.PARTNER_EDITOR: set[Role](),
    Role.ADMIN: MEMBERS,
    Role.OWNER: MEMBERS,
    Role.STANDARD: set[Role](),
}


def code_of(error: DomainError) -> tuple[type[DomainError], str]:
    return type(error), error.code


def invite(session: Session, tenant: Tenant, by: Role, user_type: Role) -> User:
    return users.invite(
        session,
        tenant.caller(by),
        email=f"new-{by}-{user_type}@northwind.example",
        user_type=user_type,
        organization_id=tenant.organization.id if user_type in MEMBERS else None,
        partner_id=tenant.partner.id,
    )


@pytest.mark.parametrize("user_type", [*STAFF, *sorted(MEMBERS)])
@pytest.mark.parametrize("by", Role)
def test_a_role_creates_only_the_roles_of_the_table(
    session: Session, by: Role, user_type: Role
) -> None:
    tenant = make_tenant(session)
    tenant.organization.user_limit = 0
    if user_type in MAY_CREATE[by]:
        made = invite(session, tenant, by, user_type)
        assert (made.role, made.status) == (user_type, UserStatus.INVITED)
        return
    with pytest.raises(Forbidden):
        invite(session, tenant, by, user_type)


@pytest.mark.parametrize("by", [Role.OPERATOR, Role.PARTNER_ADMIN])
def test_no_role_creates_an_operator(session: Session, by: Role) -> None:
    tenant = make_tenant(session)
    with pytest.raises(Forbidden) as refused:
        invite(session, tenant, by, Role.OPERATOR)
    assert refused.value.code == "role_too_low"


def test_a_customer_admin_never_sees_the_staff_of_the_partner(session: Session) -> None:
    tenant = make_tenant(session)
    admin = tenant.caller(Role.ADMIN)
    listed = users.listing(session, admin, tenant.partner.id).chunk(session)[0]
    assert [user.email for user in listed] == ["olga@northwind.example", "paul@northwind.example"]
    for staff in tenant.staff.values():
        with pytest.raises(NotFound) as refused:
            users.get(session, admin, staff.id)
        assert refused.value.code == "user_not_found"


def test_an_editor_sees_all_users_and_changes_none(session: Session) -> None:
    tenant = make_tenant(session)
    editor = tenant.caller(Role.PARTNER_EDITOR)
    assert users.listing(session, editor, tenant.partner.id).total(session) == 5
    with pytest.raises(Forbidden):
        users.suspend(session, editor, tenant.user.id)


def test_users_cannot_change_their_own_role(session: Session) -> None:
    tenant = make_tenant(session)
    admin = tenant.caller(Role.PARTNER_ADMIN)
    editor = tenant.staff[Role.PARTNER_EDITOR]
    assert users.change_role(session, admin, editor.id, Role.ADMIN).admin_owned is True
    with pytest.raises(Forbidden) as refused:
        users.change_role(session, admin, tenant.staff[Role.PARTNER_ADMIN].id, Role.PARTNER_EDITOR)
    assert refused.value.code == "own_role"


def test_a_standard_user_stays_with_the_organization(session: Session) -> None:
    tenant = make_tenant(session)
    admin = tenant.caller(Role.PARTNER_ADMIN)
    for user, role in ((tenant.user, Role.ADMIN), (tenant.staff[Role.ADMIN], Role.STANDARD)):
        with pytest.raises(ValidationFailed) as refused:
            users.change_role(session, admin, user.id, role)
        assert refused.value.code == "role_needs_organization"


def test_the_last_active_administrator_can_not_be_removed(session: Session) -> None:
    tenant = make_tenant(session)
    operator = tenant.caller(Role.OPERATOR)
    last = tenant.staff[Role.PARTNER_ADMIN]
    second = make_user(session, tenant.partner.id, "second@northwind.example", Role.PARTNER_ADMIN)
    users.suspend(session, operator, second.id)
    removals: dict[str, Callable[[], User]] = {
        "role": lambda: users.change_role(session, operator, last.id, Role.ADMIN),
        "suspend": lambda: users.suspend(session, operator, last.id),
        "deactivate": lambda: users.deactivate(session, operator, last.id),
    }
    refused = {}
    for name, remove in removals.items():
        with pytest.raises(Conflict) as error:
            remove()
        refused[name] = error.value.code
    assert refused == dict.fromkeys(removals, "last_partner_admin")
    users.reactivate(session, operator, second.id)
    second.status = UserStatus.ACTIVE
    session.flush()
    assert users.suspend(session, operator, last.id).status is UserStatus.SUSPENDED


def test_users_cannot_deactivate_themselves(session: Session) -> None:
    tenant = make_tenant(session)
    make_user(session, tenant.partner.id, "second@northwind.example", Role.PARTNER_ADMIN)
    with pytest.raises(Forbidden) as refused:
        users.suspend(
            session, tenant.caller(Role.PARTNER_ADMIN), tenant.staff[Role.PARTNER_ADMIN].id
        )
    assert refused.value.code == "own_account"


def test_a_suspended_user_loses_every_session_and_comes_back_as_before(session: Session) -> None:
    tenant = make_tenant(session)
    sessions.create(session, tenant.user, lifetime=timedelta(hours=1), host="localhost")
    tenant.user.password_hash = "a hash"
    admin = tenant.caller(Role.ADMIN)
    assert users.suspend(session, admin, tenant.user.id).status is UserStatus.SUSPENDED
    assert session.scalars(select(PortalSession)).all() == []
    assert users.reactivate(session, admin, tenant.user.id).status is UserStatus.ACTIVE
    actions = select(AuditEntry.action).where(AuditEntry.target_id == str(tenant.user.id))
    assert session.scalars(actions.order_by(AuditEntry.id)).all() == [
        "user.suspended",
        "user.reactivated",
    ]


def test_an_ended_account_can_not_be_suspended(session: Session) -> None:
    tenant = make_tenant(session)
    admin = tenant.caller(Role.ADMIN)
    users.deactivate(session, admin, tenant.user.id)
    with pytest.raises(Conflict) as refused:
        users.suspend(session, admin, tenant.user.id)
    assert code_of(refused.value) == (Conflict, "deactivated")
