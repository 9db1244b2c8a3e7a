"""The abilities of each role in words, from the policy table."""

from app.enums import Role
from app.policy import ROLE_PERMISSIONS, Permission
from app.portal.access.labels import PERMISSION_LABELS
from app.portal.users.labels import ROLE_SCOPE, abilities


def test_every_permission_has_a_description() -> None:
    assert set(PERMISSION_LABELS) == set(Permission)
    assert len(set(PERMISSION_LABELS.values())) == len(Permission)


def test_every_role_that_can_be_given_has_a_description() -> None:
    assert set(ROLE_SCOPE) == set(Role) - {Role.OPERATOR}


def test_a_role_is_described_by_exactly_what_it_holds() -> None:
    for role, held in ROLE_PERMISSIONS.items():
        reported = {
            permission for permission in held if PERMISSION_LABELS[permission] in abilities(role)
        }
        assert (reported, len(abilities(role))) == (set(held), len(held))
