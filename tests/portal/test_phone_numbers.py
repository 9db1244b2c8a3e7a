"""Phone numbers in the portal: listed, assigned, moved, released, read from carrier accounts."""

from collections.abc import Callable
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CarrierKind, NumberSource, Role
from app.models import Assistant, CarrierAccount, PhoneNumber, User, new_id
from app.policy.caller import system_caller
from app.services import assistants, organizations, phone_numbers
from app.services.carrier_accounts import AccountFields
from tests.fixtures.carrier_accounts import put_in_use
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignIn = Callable[[User], Browser]
OWN, FOREIGN = "+12025550123", "+12025550199"
LIST = "/numbers"


@pytest.fixture
def assistant(session: Session, tenant: Tenant, other_tenant: Tenant) -> Assistant:
    """Its Plus organization has `OWN`, another partner's has `FOREIGN`."""
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [OWN])
    phone_numbers.assign(session, OPERATOR, other_tenant.plus.id, [FOREIGN])
    [found] = assistants.of_organization(session, OPERATOR, tenant.plus.id)
    assistants.configure_assistant(session, OPERATOR, found, name="Ada Robin", phone_number=OWN)
    session.commit()
    return found


@pytest.fixture
def admin(tenant: Tenant, signed_in: SignIn, assistant: Assistant) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def owner_of(session: Session, number: str) -> object:
    session.expire_all()
    query = select(PhoneNumber.organization_id).where(PhoneNumber.number == number)
    return session.scalars(query).one_or_none()


def test_a_partner_sees_its_own_numbers_only(tenant: Tenant, admin: Browser) -> None:
    page = unescape(admin.get(LIST).text)
    for words in ("+1 202 555 0123", tenant.plus.name, "Ada Robin", "Operator", "Ready to call"):
        assert words in page.replace("\u00a0", " ").replace("\u2011", "-").replace("-", " ")
    assert "0199" not in page
    assert "Assign numbers" not in page
    assert "No number matches" in admin.get(f"{LIST}?q=999").text
    assert "0123" in admin.get(f"{LIST}?q=555+0123").text


def test_an_archived_organization_takes_no_number(
    session: Session, tenant: Tenant, assistant: Assistant, operator: Browser
) -> None:
    refused = "The organization is archived. Restore it first."
    archived = tenant.organization
    organizations.archive(session, OPERATOR, archived.id)
    session.commit()
    digits, of_it = OWN.removeprefix("+"), f"?organization={archived.id}"
    pages = (f"{LIST}/assign{of_it}", f"{LIST}/verify{of_it}", f"{LIST}/{digits}/move{of_it}")
    for page in pages:
        answer = operator.get(page)
        assert answer.status_code == 409, page
        assert refused in unescape(answer.text), page
    sent = operator.post(pages[0], {"numbers": "+12025550177"}, page=f"{LIST}/assign")
    assert (sent.status_code, owner_of(session, "+12025550177")) == (409, None)
    moved = operator.post(pages[2], {}, page=f"{LIST}/assign")
    assert (moved.status_code, owner_of(session, OWN)) == (303, tenant.plus.id)
    assert refused in unescape(operator.get(LIST).text)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_number_of_the_simulated_carrier_is_ready_there_only(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    number = session.get_one(PhoneNumber, OWN)
    number.source, number.confirmed_at = NumberSource.SIMULATED, None
    session.commit()
    why = "The assistant's number isn't confirmed: it was only used on the simulated carrier."

    def message() -> list[str]:
        page = unescape(admin.get(LIST).text)
        return [words for words in ("Ready to call", "Not ready", why) if words in page]

    assert message() == ["Ready to call"]
    caller = system_caller("test", tenant.partner.id)
    wanted = AccountFields("2a" * 16, sid="AC" + "1a" * 16)
    put_in_use(session, caller, (SECRET_KEY,), wanted, organization=None)
    session.commit()
    assert message() == ["Not ready", why]


def test_the_number_of_an_assistant_that_is_switched_off_says_so(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    using = session.scalars(select(Assistant).where(Assistant.phone_number == OWN)).one()
    using.active = False
    session.commit()
    page = unescape(admin.get(LIST).text)
    assert "Assistant switched off" in page
    assert "Ready to call" not in page


def test_a_number_is_not_moved_to_the_organization_that_has_it(
    tenant: Tenant, admin: Browser
) -> None:
    move = "/numbers/12025550123/move"
    choice = admin.get(move).text
    assert f"organization={tenant.organization.id}" in choice
    assert f"organization={tenant.plus.id}" not in choice
    assert "Has it now" in choice
    assert "Move number" not in admin.get(f"{move}?organization={tenant.plus.id}").text


def test_a_partner_moves_a_number_after_it_has_seen_the_consequences(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    move = "/numbers/12025550123/move"
    assert tenant.organization.name in unescape(admin.get(move).text)
    confirmation = f"{move}?organization={tenant.organization.id}"
    asked = unescape(admin.get(confirmation).text)
    assert "Ada Robin can’t call until it gets another number." in asked
    stale = admin.post(f"{confirmation}&version=7", page=confirmation)
    assert (stale.status_code, owner_of(session, OWN)) == (303, tenant.plus.id)
    moved = admin.post(f"{confirmation}&version=1", page=confirmation)
    assert (moved.status_code, owner_of(session, OWN)) == (303, tenant.organization.id)
    history = unescape(admin.get("/audit").text)
    assert "Phone number moved to another organization" in history


def test_numbers_and_organizations_of_another_partner_are_not_found(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    for path in (
        "/numbers/12025550199/move",
        f"/numbers/12025550199/move?organization={tenant.plus.id}",
        f"/numbers/12025550123/move?organization={other_tenant.plus.id}",
        "/numbers/0/move",
        "/numbers/assign",
        "/numbers/12025550123/release",
    ):
        assert (path, admin.get(path).status_code) == (path, 404)
    for path in (
        f"/numbers/12025550199/move?organization={tenant.plus.id}",
        f"/numbers/12025550123/move?organization={other_tenant.plus.id}",
        f"/numbers/assign?organization={tenant.plus.id}",
        "/numbers/12025550123/release",
    ):
        answer = admin.post(path, {"numbers": FOREIGN}, page="/account")
        assert (path, answer.status_code) == (path, 404)
    assert (owner_of(session, OWN), owner_of(session, FOREIGN)) == (
        tenant.plus.id,
        other_tenant.plus.id,
    )


def test_the_operator_assigns_numbers_all_or_none(
    session: Session, tenant: Tenant, assistant: Assistant, operator: Browser
) -> None:
    choices = unescape(operator.get("/numbers/assign").text)
    assert tenant.plus.name in choices
    assert f"{tenant.partner.name} · " in choices
    address = f"/numbers/assign?organization={tenant.plus.id}"
    refused = operator.post(address, {"numbers": f"+12025550150\n{FOREIGN}"}, page=address)
    assert (refused.status_code, owner_of(session, "+12025550150")) == (422, None)
    assert "belongs to another organization" in refused.text
    typed = {"numbers": "(202) 555-0150\n\n+1 202 555 0151", "once": "a"}
    answers = [operator.post(address, typed, page=address) for _ in range(2)]
    assert [(answer.status_code, answer.location) for answer in answers] == [
        (303, f"/numbers?organization={tenant.plus.id}")
    ] * 2
    assert owner_of(session, "+12025550151") == tenant.plus.id
    page = unescape(operator.get(LIST).text)
    assert tenant.partner.name in page
    assert "Southgate" in page


def test_assigning_numbers_to_a_suspended_organization_warns(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    address, notice = (
        f"/numbers/assign?organization={tenant.plus.id}",
        "No calls are placed from its",
    )
    assert notice not in operator.get(address).text
    organizations.suspend(session, OPERATOR, tenant.plus.id)
    session.commit()
    assert notice in operator.get(address).text


def test_every_number_that_cannot_be_assigned_is_named_at_once(
    session: Session, tenant: Tenant, assistant: Assistant, operator: Browser
) -> None:
    address = f"/numbers/assign?organization={tenant.plus.id}"
    typed = f"+12025550150\nnonsense\n+1 202 555\n{FOREIGN}"
    refused = operator.post(address, {"numbers": typed}, page=address)
    assert (refused.status_code, owner_of(session, "+12025550150")) == (422, None)
    error = unescape(refused.text.partition('id="numbers-error"')[2].partition("</p>")[0])
    sentences = error.replace("\u00a0", " ").replace("\u2011", "-").split("<br>")
    named = ("nonsense: ", "+1 202 555: ", "belongs to another organization")
    assert [name in words for name, words in zip(named, sentences, strict=True)] == [True] * 3


def test_the_operator_moves_a_number_between_partners_and_releases_it(
    session: Session, tenant: Tenant, other_tenant: Tenant, assistant: Assistant, operator: Browser
) -> None:
    move = f"/numbers/12025550123/move?organization={other_tenant.organization.id}"
    operator.post(f"{move}&version=1", page=move)
    assert owner_of(session, OWN) == other_tenant.organization.id
    release = "/numbers/12025550123/release"
    assert "Release number" in operator.get(release).text
    assert operator.post(f"{release}?version=2", page=release).status_code == 303
    assert owner_of(session, OWN) is None


def test_the_list_of_a_carrier_account_is_read_by_the_worker(
    session: Session, tenant: Tenant, admin: Browser, other_tenant: Tenant
) -> None:
    accounts = [
        CarrierAccount(
            id=new_id(),
            partner_id=each.partner.id,
            owner_id=each.partner.id,
            carrier=CarrierKind.TWILIO,
            sid="AC" + "1a" * 16,
            secret="",
            created_by="tests",
        )
        for each in (tenant, other_tenant)
    ]
    session.add_all(accounts)
    session.commit()
    address = f"/numbers/lists/{accounts[0].id}"
    assert "Refresh numbers" in admin.get(LIST).text
    assert admin.post(address, page=LIST).status_code == 303
    assert "Reading…" in admin.get(LIST).text
    fragment = admin.get(address, headers={"HX-Request": "true"})
    assert fragment.status_code == 200
    assert "Reading…" in fragment.text
    assert "<h1" not in fragment.text
    assert admin.post(f"/numbers/lists/{accounts[1].id}", page=LIST).status_code == 404


def test_a_number_of_a_suspended_organization_is_not_ready(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    organizations.suspend(session, OPERATOR, tenant.plus.id)
    session.commit()
    page = unescape(admin.get(LIST).text)
    assert "The organization is suspended." in page
    assert "Ready to call" not in page
