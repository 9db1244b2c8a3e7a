"""An external id is the ``idpUid``, else the id, within the caller's partner only."""

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import NotFound, ValidationFailed
from app.models import User, new_id
from app.services import users
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant


@pytest.fixture
def other_tenant(session: Session) -> Tenant:
    return make_tenant(session, "Southbank")


def find(session: Session, tenant: Tenant, external_id: object) -> User:
    return users.get(session, tenant.caller(Role.PARTNER_ADMIN), str(external_id))


def test_both_ids_lead_to_the_user(session: Session, tenant: Tenant) -> None:
    users.set_external_id(session, OPERATOR, tenant.user.id, "auth0|5f7c")
    found = [
        find(session, tenant, key)
        for key in ("auth0|5f7c", tenant.user.id, str(tenant.user.id).upper())
    ]
    assert found == [tenant.user] * 3


def test_the_same_external_id_may_exist_at_two_partners(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    for each in (tenant, other_tenant):
        users.set_external_id(session, OPERATOR, each.user.id, "u-1")
    assert [find(session, each, "u-1").id for each in (tenant, other_tenant)] == [
        tenant.user.id,
        other_tenant.user.id,
    ]


def test_a_user_of_another_partner_is_answered_like_a_missing_one(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    users.set_external_id(session, OPERATOR, other_tenant.user.id, "theirs")
    refusals = []
    for key in (
        "theirs",
        other_tenant.user.id,
        new_id(),
        "nobody",
        "",
        "a\x00b",
        "{" + str(new_id()) + "}",
    ):
        with pytest.raises(NotFound) as refused:
            find(session, tenant, key)
        refusals.append((refused.value.code, refused.value.message))
    assert refusals == [("user_not_found", "There is no such user.")] * 7


@pytest.mark.parametrize(
    ("external_id", "code"),
    [
        ("usage", "reserved"),
        ("subscription", "reserved"),
        ("partial", "reserved"),
        ("", "invalid"),
        ("a/b", "invalid"),
        (".", "invalid"),
        ("..", "invalid"),
        ("a\x00b", "invalid"),
        ("x" * 201, "invalid"),
        ("taken", "external_id_exists"),
    ],
)
def test_an_id_that_can_not_be_given_is_refused(
    session: Session, tenant: Tenant, external_id: str, code: str
) -> None:
    users.set_external_id(session, OPERATOR, tenant.plus_user.id, "taken")
    with pytest.raises(ValidationFailed) as refused:
        users.set_external_id(session, OPERATOR, tenant.user.id, external_id)
    assert refused.value.code == code


def test_an_external_id_never_hides_the_id_of_another_user(
    session: Session, tenant: Tenant
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        users.set_external_id(session, OPERATOR, tenant.user.id, str(tenant.plus_user.id))
    assert refused.value.code == "external_id_exists"
    users.set_external_id(session, OPERATOR, tenant.user.id, str(tenant.user.id))
    assert users.set_external_id(session, OPERATOR, tenant.user.id, None).idp_uid is None
