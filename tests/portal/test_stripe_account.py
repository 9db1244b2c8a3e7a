"""The partner's own Stripe account on screen: connected, tested, disconnected; keys never shown."""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.models import Checkout, ProcessorAccount, User, new_id
from app.services.pricing import accounts, selling
from app.services.pricing.accounts import AccountTest
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.page_text import error_at, version_in
from tests.portal.test_pricing import FORM, PLUS, words

SignedIn = Callable[[User], Browser]

PAGE = "/pricing/stripe"
KEYS = {"secret": "sk_test_of_the_partner", "account_id": "", "webhook_secret": "whsec_12345678"}


def stored(session: Session, tenant: Tenant) -> ProcessorAccount | None:
    session.expire_all()
    return session.get(ProcessorAccount, tenant.partner.id)


def test_keys_are_stored_encrypted_and_never_shown_again(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    page = admin.get(PAGE).text
    assert f"http://localhost/processor/stripe/{tenant.partner.id}" in page
    assert admin.post(PAGE, KEYS, page=PAGE).location == PAGE
    page = admin.get(PAGE).text
    assert "Testing…" in page
    assert "Leave blank to keep the stored key." in page
    account = stored(session, tenant)
    assert account is not None
    for secret in (KEYS["secret"], KEYS["webhook_secret"]):
        assert secret not in page
        assert secret not in account.secret + account.webhook_secret


def test_the_page_is_a_tab_of_pricing_with_the_state_of_its_connection(admin: Browser) -> None:
    page = words(admin.get(PAGE).text)
    assert "<h1>Pricing</h1>" in admin.get(PAGE).text
    assert "Connection Not connected" in page


def test_the_result_of_the_test_is_shown(admin: Browser, tenant: Tenant, session: Session) -> None:
    admin.post(PAGE, KEYS, page=PAGE)
    account = stored(session, tenant) or pytest.fail("the account is missing")
    test = AccountTest(None, account.requested_at)
    accounts.end_test(
        session, tenant.partner.id, test, works=True, message="Stripe accepts the key."
    )
    session.commit()
    assert "Stripe accepts the key. Tested" in words(admin.get(PAGE).text)
    fragment = admin.get(PAGE, headers={"HX-Request": "true"}).text
    assert "Stripe accepts the key." in fragment
    assert "hx-get" not in fragment
    assert admin.post(f"{PAGE}/test", page=PAGE).location == PAGE
    assert "Testing…" in admin.get(PAGE).text


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("secret", "", "Enter the secret key of your Stripe account."),
        ("secret", "pk_live_public_key", "Enter a secret key like sk_live_…"),
        ("account_id", "35", "Enter an account ID like acct_1N…"),
        ("webhook_secret", "35", "Enter a signing secret like whsec_…"),
    ],
)
def test_an_invalid_key_is_refused_at_its_field(
    admin: Browser, tenant: Tenant, session: Session, field: str, value: str, message: str
) -> None:
    answer = admin.post(PAGE, {**KEYS, field: value}, page=PAGE)
    assert answer.status_code == 422
    assert message in error_at(field, answer.text)
    assert stored(session, tenant) is None


def test_the_second_user_to_save_sees_both_values(admin: Browser) -> None:
    seen = version_in(admin.get(PAGE).text)
    admin.post(PAGE, {**KEYS, "version": seen}, page=PAGE)
    answer = admin.post(PAGE, {**KEYS, "version": seen, "account_id": "acct_1234567"}, page=PAGE)
    assert answer.status_code == 409
    assert "acct_1234567" in answer.text


def test_stripe_is_disconnected_after_a_confirmation(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    admin.post(PAGE, KEYS, page=PAGE)
    assert "The stored keys are deleted." in admin.get(f"{PAGE}/remove").text
    admin.post(f"{PAGE}/remove", page=f"{PAGE}/remove")
    assert stored(session, tenant) is None
    assert admin.post(f"{PAGE}/test", page=PAGE).status_code == 404


def test_published_plans_are_sent_and_a_member_begins_a_checkout(
    admin: Browser, tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    assert admin.post(f"{PAGE}/send", page=PAGE).location == "/pricing"
    assert "Connect your Stripe account" in admin.get("/pricing").text
    admin.post(PAGE, KEYS, page=PAGE)
    admin.post(PLUS, FORM, page=PLUS)
    admin.post("/pricing/publish", page="/pricing/publish")
    assert "The plans are being sent to Stripe" in admin.get("/pricing").text
    member = signed_in(tenant.user)
    refused = member.post("/plan/checkout/customerPlusPlan", page="/account")
    assert refused.location == "/plan"
    assert "can&#39;t be bought here" in member.get("/plan").text
    wanted = selling.to_send(session, tenant.partner.id)
    assert wanted is not None
    selling.record_ids(session, wanted.version_id, {Tier.PLUS: ("prod_1", "price_1")}, "")
    session.commit()
    begun = member.post("/plan/checkout/customerPlusPlan", page="/plan").location or ""
    assert begun.startswith("/plan/checkout/")
    assert "Opening the checkout…" in member.get(begun).text


def test_a_checkout_leads_to_the_payment_once_it_is_open(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:

    checkout = Checkout(
        id=new_id(),
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        tier=Tier.PLUS,
        back_url="http://localhost/plan",
    )
    session.add(checkout)
    session.commit()
    path = f"/plan/checkout/{checkout.id}"
    member = signed_in(tenant.user)
    assert "Opening the checkout…" in member.get(path).text
    checkout.url = "https://checkout.stripe.test/1"
    session.commit()
    assert 'href="https://checkout.stripe.test/1"' in member.get(path).text
    checkout.url, checkout.problem = "", "no"
    session.commit()
    assert "The checkout could not be opened" in member.get(path).text
    assert signed_in(tenant.plus_user).get(path).status_code == 404


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN])
def test_only_partner_admins_see_the_stripe_account(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(tenant.staff[role])
    assert browser.get(PAGE).status_code == 404
    assert PAGE not in browser.get("/pricing").text
