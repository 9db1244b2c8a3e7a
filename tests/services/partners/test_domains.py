"""A domain is stored as given; it is unique, and has an effect, only once it is verified."""

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Conflict, Forbidden, ValidationFailed
from app.models import Partner
from app.schemas.parsing import read
from app.schemas.partners import PartnerFilter, UpdatePartnerInput
from app.services import partners
from tests.fixtures.tenants import OPERATOR, make_partner, make_tenant


def test_two_partners_may_name_one_domain_but_only_one_may_verify_it(session: Session) -> None:
    first = make_partner(session, "First", domain="Portal.Shared.Example")
    second = make_partner(session, "Second", domain="portal.shared.example")
    assert partners.verify_domain(session, OPERATOR, first.id).domain_verified_at is not None
    with pytest.raises(Conflict) as refused:
        partners.verify_domain(session, OPERATOR, second.id)
    assert refused.value.code == "domain_taken"
    assert (first.domain, second.domain) == ("Portal.Shared.Example", "portal.shared.example")


def test_another_domain_has_to_be_verified_again(session: Session) -> None:
    partner = make_partner(session, domain="one.example")
    partners.verify_domain(session, OPERATOR, partner.id)

    def put(domain: str | None) -> Partner:
        return partners.update(
            session, OPERATOR, partner.id, read(UpdatePartnerInput, {"domain": domain})
        )

    assert put("ONE.example").domain_verified_at is not None
    assert put("two.example").domain_verified_at is None
    partners.verify_domain(session, OPERATOR, partner.id)
    assert put(None).domain_verified_at is None


@pytest.mark.parametrize(
    ("domain", "code"),
    [(None, "no_domain"), ("not a host", "invalid_domain"), ("İ" * 200, "invalid_domain")],
)
def test_an_invalid_host_name_is_stored_but_never_verified(
    session: Session, domain: str | None, code: str
) -> None:
    partner = make_partner(session, domain=domain)
    assert partner.domain == domain
    with pytest.raises(ValidationFailed) as refused:
        partners.verify_domain(session, OPERATOR, partner.id)
    assert refused.value.code == code


def test_only_an_operator_verifies(session: Session) -> None:
    tenant = make_tenant(session)
    with pytest.raises(Forbidden):
        partners.verify_domain(session, tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id)


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({}, ["Ünal_Voice", "Plain 50% off", "Plain"]),
        ({"name": "plain"}, ["Plain 50% off", "Plain"]),
        ({"name": "ünal"}, ["Ünal_Voice"]),
        ({"name": "%"}, ["Plain 50% off"]),
        ({"name": "_"}, ["Ünal_Voice"]),
        ({"name": "\\"}, []),
        ({"domain": "A.example"}, ["Plain"]),
        ({"domain": "a.exampl"}, []),
        ({"domain": "a.example", "name": "off"}, []),
    ],
)
def test_partners_are_found_by_domain_and_part_of_the_name(
    session: Session, chosen: dict[str, str], found: list[str]
) -> None:
    for name, domain in (("Ünal_Voice", None), ("Plain 50% off", None), ("Plain", "a.Example")):
        make_partner(session, name, domain=domain)
    listing = partners.listing(OPERATOR, read(PartnerFilter, chosen))
    assert [partner.partner_name for partner in listing.chunk(session)[0]] == found
    assert listing.total(session) == len(found)


def test_a_partner_finds_itself_alone(session: Session) -> None:
    tenant, _other = make_tenant(session), make_tenant(session, "Southbank")
    listing = partners.listing(tenant.caller(Role.ADMIN), PartnerFilter())
    assert [partner.id for partner in listing.chunk(session)[0]] == [tenant.partner.id]
