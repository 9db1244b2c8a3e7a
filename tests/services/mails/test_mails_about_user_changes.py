"""Which mails follow from changes to users, and who receives them."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role, Tier, UserStatus
from app.errors import Conflict, Forbidden, NotFound
from app.models import AuditEntry, LinkPurpose, Mail, User
from app.schemas.parsing import read
from app.schemas.users import (
    CreateAdminInput,
    CreatePartialUserInput,
    CreateUserInput,
    UpdateUserInput,
)
from app.services import mails, users
from app.services.auth import one_time_links
from tests.fixtures.mails import waiting
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

NEW = "ada@hillside.example"


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    tenant.plus.user_limit = tenant.organization.user_limit = 0
    return tenant


def as_created(email: str = NEW, user_type: Role = Role.STANDARD) -> CreateUserInput:
    return read(CreateUserInput, {"email": email, "userType": user_type.value})


def as_moved(email: str) -> UpdateUserInput:
    return read(UpdateUserInput, {"email": email})


def invited(session: Session, tenant: Tenant) -> User:
    data = read(CreatePartialUserInput, {"email": NEW, "orgId": str(tenant.plus.id)})
    return users.create_partial(session, tenant.caller(Role.PARTNER_ADMIN), data)


def test_a_change_by_command_sends_no_mail(session: Session, tenant: Tenant) -> None:
    users.set_password(session, OPERATOR, tenant.user, "hash")
    users.set_password(session, OPERATOR, tenant.user, "another")
    users.update(session, OPERATOR, tenant.user.id, as_moved("new@hillside.example"))
    assert waiting(session) == []


@pytest.mark.parametrize("user_type", [Role.STANDARD, Role.ADMIN, Role.PARTNER_EDITOR])
def test_a_user_created_as_active_gets_a_link_for_the_first_password(
    session: Session, tenant: Tenant, user_type: Role
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    user = users.create(session, caller, tenant.partner.id, as_created(user_type=user_type))
    assert waiting(session)[-1] == ("set_password", user.id, None)


def test_an_admin_gets_a_link_for_the_first_password(session: Session, tenant: Tenant) -> None:
    data = read(CreateAdminInput, {"email": NEW})
    user = users.create_admin(session, tenant.caller(Role.PARTNER_ADMIN), data)
    assert waiting(session) == [
        ("administrator_added", tenant.staff[Role.PARTNER_ADMIN].id, None),
        ("set_password", user.id, None),
    ]


def test_an_invited_user_gets_an_invitation(session: Session, tenant: Tenant) -> None:
    user = invited(session, tenant)
    assert (user.status, waiting(session)) == (
        UserStatus.INVITED,
        [("invitation", user.id, None)],
    )


def test_a_replaced_password_is_announced_by_mail(session: Session, tenant: Tenant) -> None:
    caller = tenant.caller(Role.STANDARD)
    users.set_password(session, caller, tenant.user, "first")
    assert waiting(session) == []
    users.set_password(session, caller, tenant.user, "second")
    assert waiting(session) == [("password_changed", tenant.user.id, None)]


def test_a_new_password_ends_every_open_link(session: Session, tenant: Tenant) -> None:
    purpose = LinkPurpose.RESET_PASSWORD
    token = one_time_links.create(session, tenant.user.id, purpose)
    users.set_password(session, OPERATOR, tenant.user, "hash")
    with pytest.raises(NotFound):
        one_time_links.look_up(session, token, purpose)


def test_a_new_email_is_announced_to_the_old_and_the_new_one(
    session: Session, tenant: Tenant
) -> None:
    tenant.user.password_hash = "hash"
    before = tenant.user.email
    purpose = LinkPurpose.RESET_PASSWORD
    token = one_time_links.create(session, tenant.user.id, purpose)
    users.update(session, tenant.caller(Role.PARTNER_ADMIN), tenant.user.id, as_moved(NEW))
    assert waiting(session) == [
        ("email_changed", tenant.user.id, before),
        ("email_changed", tenant.user.id, NEW),
    ]
    with pytest.raises(NotFound):  # what was sent to the old address opens nothing
        one_time_links.look_up(session, token, purpose)


def test_a_user_without_a_password_gets_the_link_at_the_new_email(
    session: Session, tenant: Tenant
) -> None:
    users.update(session, tenant.caller(Role.PARTNER_ADMIN), tenant.user.id, as_moved(NEW))
    assert waiting(session)[-1] == ("set_password", tenant.user.id, None)


def test_an_invitation_is_sent_again_to_a_new_email(session: Session, tenant: Tenant) -> None:
    user = invited(session, tenant)
    users.update(session, tenant.caller(Role.PARTNER_ADMIN), user.id, as_moved("new@hill.example"))
    assert waiting(session) == [("invitation", user.id, None)] * 2


def test_a_new_email_of_an_account_that_was_never_used_and_has_ended_sends_no_mail(
    session: Session, tenant: Tenant
) -> None:
    user = invited(session, tenant)
    user.status = UserStatus.DEACTIVATED
    users.update(session, tenant.caller(Role.PARTNER_ADMIN), user.id, as_moved("new@hill.example"))
    assert waiting(session) == [("invitation", user.id, None)]


def test_a_change_of_the_plan_alone_sends_no_mail(session: Session, tenant: Tenant) -> None:
    changes = read(UpdateUserInput, {"paymentTier": Tier.BASIC.value})
    users.update(session, tenant.caller(Role.PARTNER_ADMIN), tenant.user.id, changes)
    assert waiting(session) == []


def test_an_invitation_can_be_sent_again_once_the_last_one_is_out(
    session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    user = invited(session, tenant)
    mails.send_invitation(session, caller, user.id)
    assert waiting(session) == [("invitation", user.id, None)]
    first = session.scalars(select(Mail)).one()
    mails.record_sent(session, first.id)
    mails.send_invitation(session, caller, user.id)
    mails.send_invitation(session, caller, user.id)
    assert waiting(session) == [("invitation", user.id, None)]
    actions = session.scalars(
        select(AuditEntry.action)
        .where(AuditEntry.target_id == str(user.id))
        .order_by(AuditEntry.id)
    )
    assert list(actions) == ["user.invited", "user.invitation_sent"]


def test_a_mail_that_waits_for_another_attempt_is_replaced_by_a_new_one(
    session: Session, tenant: Tenant, settings: Settings
) -> None:
    user = invited(session, tenant)
    late = session.scalars(select(Mail)).one()
    mails.begin(session, late.id, 1, settings)
    mails.schedule_retry(session, late.id, 1, "away")
    mails.send_invitation(session, tenant.caller(Role.PARTNER_ADMIN), user.id)
    assert (late.is_over, late.failure) == (True, "replaced by a newer one")
    assert mails.begin(session, late.id, 2, settings) is None
    assert waiting(session) == [("invitation", user.id, None)]


def test_a_user_created_as_active_can_get_the_link_for_the_password_again(
    session: Session, tenant: Tenant
) -> None:
    mails.send_invitation(session, tenant.caller(Role.PARTNER_ADMIN), tenant.user.id)
    assert waiting(session) == [("set_password", tenant.user.id, None)]


@pytest.mark.parametrize(
    ("status", "password", "code"),
    [
        (UserStatus.ACTIVE, "hash", "already_joined"),
        (UserStatus.SUSPENDED, None, "not_active"),
        (UserStatus.DEACTIVATED, None, "not_active"),
    ],
)
def test_a_user_who_needs_no_invitation_gets_none(
    session: Session, tenant: Tenant, status: UserStatus, password: str | None, code: str
) -> None:
    tenant.user.status, tenant.user.password_hash = status, password
    session.flush()
    with pytest.raises(Conflict) as refused:
        mails.send_invitation(session, tenant.caller(Role.PARTNER_ADMIN), tenant.user.id)
    assert (refused.value.code, waiting(session)) == (code, [])


def test_only_roles_that_change_users_invite_them_again(session: Session, tenant: Tenant) -> None:
    other_tenant = make_tenant(session, "Southgate")
    for role in (Role.PARTNER_EDITOR, Role.STANDARD):
        with pytest.raises(Forbidden):
            mails.send_invitation(session, tenant.caller(role), tenant.user.id)
    with pytest.raises(NotFound):  # an admin sees standard users only
        mails.send_invitation(
            session, tenant.caller(Role.ADMIN), tenant.staff[Role.PARTNER_EDITOR].id
        )
    with pytest.raises(NotFound):
        mails.send_invitation(session, tenant.caller(Role.PARTNER_ADMIN), other_tenant.user.id)
    assert waiting(session) == []
