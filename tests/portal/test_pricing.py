"""Pricing: the plans that customers choose from, edited in a draft, published as versions."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.gateways.processors.base import ListedPrice, PriceReference
from app.models import ProcessorPrice, User, utcnow
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import partners, pricing
from app.services.auth import sessions
from app.services.money_format import money
from app.services.pricing import EditedPlan, PlanTerms, refresh, selling
from tests.fixtures.browser_session import give_session
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, in_conflict
from tests.portal.page_text import error_at, version_in

SignedIn = Callable[[User], Browser]

PAGE, PLUS = "/pricing", "/pricing/plans/customerPlusPlan"
FORM = {
    "name": "Growth",
    "amount": "149",
    "currency": "EUR",
    "interval": "month",
    "unit": "minute",
    "included": "500",
    "overage": "0.12",
    "trial_days": "14",
    "features": "Priority support\r\n\r\n Two assistants ",
    "is_visible": "y",
}


@pytest.fixture
def with_stripe(make_app: Callable[..., Flask], session: Session, tenant: Tenant) -> Browser:
    """The admin's browser where prices come from Stripe."""
    app = make_app(processor="stripe", stripe_key="sk_test_x")
    admin = tenant.staff[Role.PARTNER_ADMIN]
    token = sessions.create(session, admin, lifetime=timedelta(hours=1), host="localhost")
    session.commit()
    client = app.test_client()
    give_session(client, token)
    return Browser(client)


def offered_options(session: Session, tenant: Tenant) -> list[tuple[str, float, str]]:
    """What the JSON offers."""
    session.expire_all()
    options = pricing.options(session, tenant.caller(Role.ADMIN), tenant.partner.id)
    return [(option.name, option.cost, option.currency) for option in options]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.parametrize(
    ("cost", "currency", "shown"),
    [
        (29.0, "USD", "$29.00"),
        (Decimal("948.5000"), "EUR", "€948.50"),
        (12345.6, "GBP", "£12,345.60"),
        (3000, "JPY", "¥3,000"),
        (29, "CHF", "29.00\u00a0CHF"),
        (Decimal("1.25"), "KWD", "1.250\u00a0KWD"),
    ],
)
def test_amounts_are_written_in_their_currency(cost: float, currency: str, shown: str) -> None:
    assert money(cost, currency) == shown


def cards(html: str) -> list[str]:
    return [words(card) for card in re.findall(r"<article.*?</article>", html, re.DOTALL)]


def test_a_plan_is_edited_in_a_draft_and_published(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    answer = admin.post(PLUS, FORM, page=PLUS)
    assert (answer.status_code, answer.location) == (303, "/pricing?saved=1")
    page = admin.get(answer.location).text
    assert "Draft: 9 changes" in page
    assert cards(page)[-1].startswith(
        "Growth Changed €149 a month Priority support Two assistants "
        "Included 500 minutes Beyond that €0.12 a minute Free trial 14 days "
        "Concurrent calls 5 Calls a day (UTC) No limit Organizations 1"
    )
    assert "The portal’s limit is 5 concurrent calls for each organization." in words(page)
    assert offered_options(session, tenant) == []
    review = admin.get("/pricing/publish").text
    assert "Publish version 1?" in words(review)
    assert "Customers see" in words(review)
    assert "after you publish." in words(review)
    assert (
        "Included each month All calls 500 minutes Price beyond that Nothing €0.12 a minute"
        in words(review)
    )
    assert "1 organization is on Growth." in review
    assert "more this month so far" not in review  # the first prices are in another currency
    assert len(cards(review)) == 1
    published = admin.post(
        "/pricing/publish", {"version": version_in(review)}, page="/pricing/publish"
    )
    assert published.location == "/pricing"
    assert "Version 1 is published." in admin.get(PAGE).text
    assert offered_options(session, tenant) == [("Growth", 149.0, "EUR")]


def test_all_problems_are_named_at_once_in_the_order_of_the_page(admin: Browser) -> None:
    wrong = {
        "amount": "many",
        "trial_days": "731",
        "included": "many",
        "overage": "many",
        "name": "",
        "texts-1-name": "x" * 61,
    }
    answer = admin.post(PLUS, {**FORM, "texts-0-name": "", **wrong}, page=PLUS)
    assert answer.status_code == 422
    assert re.findall(r'<li><a href="#([\w-]+)">', answer.text) == list(wrong)


@pytest.mark.parametrize("amount", ["12.345", "0.1234567"])
def test_a_price_with_too_many_decimals_is_named_with_the_other_problems(
    admin: Browser, amount: str
) -> None:
    wrong = {"amount": amount, "trial_days": "731", "included": "many", "overage": "0.1234567"}
    answer = admin.post(PLUS, {**FORM, **wrong}, page=PLUS)
    assert answer.status_code == 422
    assert re.findall(r'<li><a href="#([\w-]+)">', answer.text) == list(wrong)
    assert "Price: Amounts in EUR have at most 2 decimals." in answer.text
    assert "Price beyond that: Enter an amount with at most 6 decimals." in answer.text


def test_a_problem_of_a_text_in_another_language_is_at_its_field(admin: Browser) -> None:
    typed = {**FORM, "texts-0-name": "", "texts-1-name": "x" * 61, "version": ""}
    answer = admin.post(PLUS, typed, page=PLUS)
    assert answer.status_code == 422
    assert "1 thing needs changing" in answer.text
    assert '<a href="#texts-1-name">Deutsch: Name: Enter at most 60 characters.</a>' in answer.text
    assert '<details class="more-choices" open>' in answer.text


def test_the_review_says_who_pays_more_this_month(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.plus.created_at = datetime(2025, 11, 1, tzinfo=UTC)
    session.commit()
    for amount in ("149", "159"):
        admin.post(PLUS, {**FORM, "amount": amount, "trial_days": "0"}, page=PLUS)
        review = admin.get("/pricing/publish").text
        admin.post("/pricing/publish", page="/pricing/publish")
    assert f"1 customer pays €10.00 more this month so far: {tenant.plus.name} ." in words(review)
    assert f'href="/statements/{tenant.plus.id}"' in review


def test_a_published_version_is_used_again(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    for name in ("Growth", "Scale"):
        admin.post(PLUS, {**FORM, "name": name}, page=PLUS)
        admin.post("/pricing/publish", page="/pricing/publish")
    history = words(admin.get("/pricing/history").text)
    assert "Version 2 What customers see" in history
    row = r"Version (\d).*?@\S+ (Scale .*?→ Scale|First version)( Roll back…)?"
    rows = re.findall(row, history)
    assert rows == [
        ("2", "Scale Name: Growth → Scale", ""),
        ("1", "First version", " Roll back…"),
    ]
    assert "Scale Name Growth Scale" in words(admin.get("/pricing/history/1").text)
    answer = admin.post("/pricing/history/1/restore", page="/pricing/history/1")
    assert answer.location == "/pricing/publish"
    review = words(admin.get(answer.location).text)
    assert "Publish version 3?" in review
    assert "The draft has the plans of version 1." in review
    assert "Name Scale Growth" in review
    admin.post("/pricing/publish", page="/pricing/publish")
    assert [name for name, _, _ in offered_options(session, tenant)] == ["Growth"]
    assert admin.get("/pricing/history/9").status_code == 404


def test_a_draft_is_discarded_after_a_confirmation(admin: Browser) -> None:
    admin.post(PLUS, FORM, page=PLUS)
    assert "9 changes are lost." in admin.get("/pricing/discard").text
    admin.post("/pricing/discard", page="/pricing/discard")
    page = admin.get(PAGE).text
    assert "The draft was discarded." in page
    assert "Draft: " not in page
    assert "Nothing to publish" in admin.get("/pricing/publish").text


def test_plans_are_moved_without_script(admin: Browser) -> None:
    admin.post(f"{PLUS}/move/earlier", page=PLUS)
    names = [card.split()[0] for card in cards(admin.get(PAGE).text)]
    assert names == ["Free", "Basic", "Plus", "Basic"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "", "Enter the name that customers see."),
        ("amount", " ", "Enter a price, 0 if the plan is free."),
        ("amount", "35,00", "Use a point for decimals: 35.00."),
        ("amount", "many", "Enter an amount like 12.50."),
        ("amount", "1.005", "Amounts in EUR have at most 2 decimals."),
        ("amount", "10000000", "Enter a number from 0 to 999,999.99."),
        ("amount", "999999999999", "Enter a number from 0 to 999,999.99."),
        ("included", "many", "Enter a whole number in digits."),
        ("trial_days", "731", "Enter a number from 0 to 730."),
        ("overage", "0,123456", "Use a point for decimals: 0.123456."),
        ("overage", "little", "Enter an amount like 0.15."),
        ("overage", "1001", "Enter a number from 0 to 1,000."),
        ("features", "x" * 121, "Enter at most 120 characters in each line."),
    ],
)
def test_a_wrong_value_is_refused_at_its_field(
    admin: Browser, field: str, value: str, message: str
) -> None:
    answer = admin.post(PLUS, {**FORM, field: value}, page=PLUS)
    assert answer.status_code == 422
    assert message in error_at(field, answer.text)
    assert f'href="#{field}"' in answer.text
    assert cards(answer.text) == []
    assert "Draft: " not in admin.get(PAGE).text


@pytest.mark.parametrize(
    ("language", "typed", "stored"),
    [
        ("es", "2.000", "2000"),
        ("en", "2,000", "2000"),
        ("fr", "12 000", "12000"),
        ("de", "1.000.000", "1000000"),
        ("en", "2.000", None),
        ("es", "2,000", None),
        ("de", "2.00", None),
        ("de", "2000.000", None),
        ("de", ".000", None),
    ],
)
def test_a_whole_number_has_the_thousands_separators_of_its_readers_language(
    admin: Browser, language: str, typed: str, stored: str | None
) -> None:
    head = {"Accept-Language": language}
    answer = admin.post(PLUS, {**FORM, "included": typed}, page=PLUS, headers=head)
    assert answer.status_code == (303 if stored else 422)
    if stored:
        assert f'value="{stored}"' in admin.get(PLUS).text.partition('id="included"')[2][:200]


def test_prices_are_read_and_filled_in_the_language_of_their_reader(admin: Browser) -> None:
    head = {"Accept-Language": "de"}
    typed = {**FORM, "amount": "1.149,50", "overage": "0,045"}
    assert admin.post(PLUS, typed, page=PLUS, headers=head).status_code == 303
    german, english = admin.get(PLUS, headers=head).text, admin.get(PLUS).text
    for page, price, overage in ((german, "1149,50", "0,045"), (english, "1149.50", "0.045")):
        assert re.findall(r'id="(?:amount|overage)"[^>]* value="([^"]*)"', page) == [price, overage]
    refused = admin.post(PLUS, {**FORM, "amount": "1,5,0"}, page=PLUS, headers=head)
    error = refused.text.partition('id="amount-error"')[2].partition("</p>")[0]
    assert refused.status_code == 422
    assert "12,50" in error


def test_a_currency_without_decimals_has_none(admin: Browser) -> None:
    answer = admin.post(PLUS, {**FORM, "currency": "JPY", "amount": "9.50"}, page=PLUS)
    assert "Amounts in JPY have no decimals." in answer.text
    admin.post(PLUS, {**FORM, "currency": "JPY", "amount": "15000"}, page=PLUS)
    assert "¥15,000 a month" in cards(admin.get(PAGE).text)[-1]


def test_the_second_window_to_save_sees_both_values(admin: Browser) -> None:
    seen = version_in(admin.get(PLUS).text)
    admin.post(PLUS, {**FORM, "version": seen, "included": "1500"}, page=PLUS)
    answer = admin.post(PLUS, {**FORM, "version": seen, "amount": "99"}, page=PLUS)
    assert answer.status_code == 409
    assert "You changed this in another window, on" in answer.text
    assert in_conflict(answer.text)["Price"] == ("149.00", "99")
    assert in_conflict(answer.text)["Included each month"] == ("1,500", FORM["included"])
    assert "€99 a month" in cards(answer.text)[-1]
    late = admin.post("/pricing/publish", {"version": seen}, page=PLUS)
    assert late.location == "/pricing/publish"
    assert "Review the changes again." in admin.get(late.location).text


def store_answer(
    session: Session, tenant: Tenant, price_id: str, *, cost: int = 149, is_known: bool = True
) -> None:
    """Store what the partner's Stripe account says about an id, as the worker does."""
    price = ListedPrice("Growth", Decimal(cost), "EUR", "prod_1", "month")
    found = {price_id: price} if is_known else {}
    references = [PriceReference(Tier.PLUS, price_id, "")]
    refresh.store_prices(session, tenant.partner.id, references, found)
    session.commit()


def hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(asked_\w+)" value="(\w+)"', page))


def test_a_new_price_id_waits_for_stripe_and_is_then_saved(
    with_stripe: Browser, tenant: Tenant, session: Session
) -> None:
    typed = {**FORM, "price_id": "price_1"}
    answer = with_stripe.post(PLUS, typed, page=PLUS)
    assert answer.status_code == 200
    assert "Checking price_1 with Stripe…" in answer.text
    waiting = typed | hidden(answer.text)
    htmx = {"HX-Request": "true"}
    assert with_stripe.post(PLUS, waiting, page=PLUS, headers=htmx).status_code == 204
    assert 'value="price_1"' not in with_stripe.get(PLUS).text
    changed = with_stripe.post(PLUS, waiting | {"price_id": "price_2"}, page=PLUS, headers=htmx)
    assert hidden(changed.text)["asked_id"] == "price_2"
    store_answer(session, tenant, "price_1")
    saved = with_stripe.post(PLUS, waiting, page=PLUS, headers=htmx)
    assert saved.headers["HX-Redirect"] == "/pricing?saved=1"
    assert 'value="price_1"' in with_stripe.get(PLUS).text


def test_a_wrong_price_id_is_named_at_its_field_and_nothing_is_saved(
    with_stripe: Browser, tenant: Tenant, session: Session
) -> None:
    typed = {**FORM, "price_id": "price_1"}
    waiting = typed | hidden(with_stripe.post(PLUS, typed, page=PLUS).text)
    store_answer(session, tenant, "price_1", is_known=False)
    answer = with_stripe.post(PLUS, waiting, page=PLUS)
    assert answer.status_code == 422
    error = answer.text.partition('id="price_id-error"')[2].partition("</p>")[0]
    assert "Stripe has no price on sale with the ID price_1. Open the product in Stripe" in error
    assert hidden(answer.text) == {}
    page = with_stripe.get(PLUS).text
    assert "Growth" not in page
    assert 'value="price_1"' not in page
    assert "Checking price_1 with" in with_stripe.post(PLUS, typed, page=PLUS).text
    for nonsense in ("x", "9" * 30):
        sent = typed | {"asked_id": "price_1", "asked_at": nonsense}
        assert with_stripe.post(PLUS, sent, page=PLUS).status_code == 200


@pytest.mark.parametrize("others_cost", [149, 35])
def test_the_price_id_of_another_partner_neither_shows_nor_changes_what_it_knows(
    with_stripe: Browser, tenant: Tenant, other_tenant: Tenant, session: Session, others_cost: int
) -> None:
    """Whether its price would fit the plan or not."""
    store_answer(session, other_tenant, "price_1", cost=others_cost)
    typed = {**FORM, "price_id": "price_1"}
    answer = with_stripe.post(PLUS, typed, page=PLUS)
    assert answer.status_code == 200
    assert "Checking price_1 with Stripe…" in answer.text
    store_answer(session, tenant, "price_1", is_known=False)
    refused = with_stripe.post(PLUS, typed | hidden(answer.text), page=PLUS)
    assert refused.status_code == 422
    assert "Stripe has no price on sale with the ID price_1." in refused.text
    with_stripe.post(PLUS, typed, page=PLUS)  # the own negative answer is asked for again

    terms = PlanTerms(others_cost * 100, "EUR")
    plan = EditedPlan(Tier.PLUS, "Growth", terms, is_visible=True, price_id="price_1")
    session.expire_all()
    states = selling.states(session, other_tenant.partner.id, [plan])
    assert states[Tier.PLUS].problem is None


def test_after_a_refused_publication_the_prices_are_queried_again(
    with_stripe: Browser, tenant: Tenant, session: Session
) -> None:
    store_answer(session, tenant, "price_1")
    with_stripe.post(PLUS, {**FORM, "price_id": "price_1"}, page=PLUS)
    store_answer(session, tenant, "price_1", is_known=False)
    before = queued_checks(session)
    seen = version_in(with_stripe.get("/pricing/publish").text)
    refused = with_stripe.post("/pricing/publish", {"version": seen}, page="/pricing/publish")
    assert refused.status_code == 422
    assert "Stripe has no price on sale with the ID price_1." in refused.text
    assert queued_checks(session) == before + 1


def queued_checks(session: Session) -> int:
    """How many queries for all prices of a partner were queued."""
    schema = "" if session.get_bind().dialect.name == "sqlite" else "dbos."
    query = f"SELECT count(*) FROM {schema}workflow_status WHERE name = 'check_prices'"
    return session.scalar(text(query)) or 0


def test_two_plans_can_not_have_the_same_price_id(
    with_stripe: Browser, tenant: Tenant, session: Session
) -> None:
    ids = {"price_id": "35", "product_id": "prod_1"}
    store_answer(session, tenant, "35")
    assert with_stripe.post(PLUS, {**FORM, **ids}, page=PLUS).status_code == 303
    basic = "/pricing/plans/customerBasicPlan"
    answer = with_stripe.post(basic, {**FORM, **ids, "name": "Basic"}, page=basic)
    assert answer.status_code == 422
    assert "The plan “Growth” has this price ID." in answer.text


def test_without_a_payment_processor_no_price_id_is_asked_for(admin: Browser) -> None:
    page = admin.get(PLUS).text
    assert 'name="amount"' in page
    assert 'name="price_id"' not in page


def test_a_conflict_lists_only_fields_of_the_form(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    ids = {"processorPriceId": "price_b", "processorProductId": "prod_b"}
    changes = read(UpdatePartnerInput, {"pricing": [{"tier": "customerPlusPlan", **ids}]})
    partners.update(session, OPERATOR, tenant.partner.id, changes)
    session.commit()
    seen = version_in(admin.get(PLUS).text)
    admin.post(PLUS, {**FORM, "version": seen}, page=PLUS)
    typed = {**FORM, "version": seen, "amount": "99", "features": ""}
    answer = admin.post(PLUS, typed, page=PLUS)
    assert in_conflict(answer.text) == {
        "Price": ("149.00", "99"),
        "Features": ("Priority support\nTwo assistants", "–"),
    }


def test_prices_set_by_a_script_stay_until_the_plans_are_published(
    admin: Browser, tenant: Tenant, session: Session
) -> None:
    entry = {
        "tier": "customerBasicPlan",
        "processorPriceId": "price_b",
        "processorProductId": "prod_b",
    }
    changes = read(UpdatePartnerInput, {"pricing": [entry]})
    partners.update(session, OPERATOR, tenant.partner.id, changes)
    session.commit()
    assert "$29 a month" in cards(admin.get(PAGE).text)[2]
    assert offered_options(session, tenant) == [("Basic", 29.0, "USD")]
    admin.post(PLUS, FORM, page=PLUS)
    admin.post("/pricing/publish", page="/pricing/publish")
    session.expire_all()
    resource = partners.to_resource(partners.get(session, OPERATOR, tenant.partner.id), OPERATOR)
    tier = "customerPlusPlan"
    assert [(e.tier.value, e.processor_price_id) for e in resource.pricing or []] == [
        ("customerBasicPlan", "price_b"),
        (tier, f"local_{tier}"),
    ]


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN])
def test_other_staff_read_the_plans_and_change_nothing(
    tenant: Tenant, signed_in: SignedIn, role: Role, admin: Browser
) -> None:
    admin.post(PLUS, FORM, page=PLUS)
    browser = signed_in(tenant.staff[role])
    page = browser.get(PAGE).text
    assert "Growth" in page
    assert PLUS not in page
    assert "Review and publish" not in page
    assert browser.get(PLUS).status_code == 404
    assert browser.post(PLUS, FORM, page="/").status_code == 404
    assert browser.post("/pricing/publish", page="/").status_code == 404


def test_a_member_finds_no_editor(tenant: Tenant, signed_in: SignedIn) -> None:
    assert signed_in(tenant.user).get(PAGE).status_code == 404


def test_the_state_of_each_price_at_stripe_is_shown_with_its_age(
    with_stripe: Browser, tenant: Tenant, session: Session
) -> None:
    ids = {
        "customerFreePlan": "price_f",
        "customerBasicPlan": "price_b",
        "customerPlusPlan": "price_p",
    }
    entries = [
        {"tier": tier, "processorPriceId": price_id, "processorProductId": "prod_p"}
        for tier, price_id in ids.items()
    ]
    changes = read(UpdatePartnerInput, {"pricing": entries})
    partners.update(session, OPERATOR, tenant.partner.id, changes)
    price = ListedPrice("Plus", Decimal(99), "EUR", "prod_p", "month")
    asked = [PriceReference(Tier.PLUS, price_id, "") for price_id in ("price_p", "price_b")]
    refresh.store_prices(session, tenant.partner.id, asked, {"price_p": price})
    session.commit()
    page = words(with_stripe.get(PAGE).text)
    assert "Free price_f Not checked yet –" in page
    assert "Basic price_b Basic: Stripe has no price on sale with the ID price_b." in page
    assert "Plus price_p Same as the plan" in page
    assert "has not answered since" not in page
    stored = session.get_one(ProcessorPrice, (tenant.partner.id, "price_p"))
    stored.fetched_at = utcnow() - timedelta(hours=3)
    session.commit()
    assert "Stripe has not answered since" in with_stripe.get(PAGE).text


def test_the_history_says_in_words_what_each_version_changed(admin: Browser) -> None:
    later = {**FORM, "amount": "159", "unit": "none", "features": "Two assistants\r\nFast help"}
    for typed in (FORM, later):
        admin.post(PLUS, {**typed, "version": version_in(admin.get(PLUS).text)}, page=PLUS)
        seen = version_in(admin.get("/pricing/publish").text)
        admin.post("/pricing/publish", {"version": seen}, page="/pricing/publish")
    assert (
        "Growth Price: €149.00 → €159.00 Usage is counted in: Minutes → Not charged Included each "
        "month: 500 minutes → All calls Price beyond that: €0.12 a minute → Nothing Feature added: "
        "“Fast help” Feature removed: “Priority support”"
    ) in words(admin.get("/pricing/history").text)
    first = words(admin.get("/pricing/history/1").text)
    assert "Until then customers see the current plans. Create draft and review" in first


def test_the_review_names_the_languages_that_keep_the_old_words(admin: Browser) -> None:
    blank = {f"texts-{number}-name": "" for number in range(4)}
    texts = {**FORM, **blank, "texts-1-name": "Wachstum", "texts-3-features": "Deux assistants"}
    admin.post(PLUS, texts, page=PLUS)
    kept = "Scale keeps old texts in other languages"
    assert kept not in admin.get("/pricing/publish").text
    admin.post("/pricing/publish", page="/pricing/publish")
    admin.post(PLUS, {**texts, "name": "Scale", "texts-2-name": "Escala"}, page=PLUS)
    page = admin.get("/pricing/publish").text
    assert f"{kept} Its name or features change, but not in these languages: Deutsch." in words(
        page
    )
    assert f'href="{PLUS}#texts"' in page


def test_a_hidden_plan_is_shown_to_customers_from_its_card(admin: Browser) -> None:
    assert "Show to customers" in cards(admin.get(PAGE).text)[-1]
    assert admin.post(f"{PLUS}/show", page=PAGE).location == "/pricing?saved=1"
    page = admin.get(PAGE).text
    assert "Draft: 1 change" in page
    assert "Show to customers" not in cards(page)[-1]


def test_the_card_of_a_plan_is_previewed_as_it_is_typed(admin: Browser) -> None:
    """Without script as a page, with script as the card alone; nothing is saved."""
    card = (
        "Growth €149 a month 500 minutes a month included, then €0.12 a minute "
        "14-day free trial Priority support Two assistants"
    )
    page = admin.post(f"{PLUS}/preview", FORM, page=PLUS)
    fragment = admin.post(f"{PLUS}/preview", FORM, page=PLUS, headers={"HX-Request": "true"})
    assert [cards(answer.text) for answer in (page, fragment)] == [[card], [card]]
    assert "Save plan" in page.text
    assert "Save plan" not in fragment.text
    unreadable = {**FORM, "amount": "many"}
    refused = admin.post(f"{PLUS}/preview", unreadable, page=PLUS, headers={"HX-Request": "true"})
    assert "The card appears once the form has no errors." in refused.text
    assert refused.text.count('hx-swap-oob="innerHTML">EUR<') == 3
    assert "Draft:" not in admin.get(PAGE).text


def test_the_card_of_a_plan_is_in_the_language_of_its_reader(admin: Browser) -> None:
    admin.post(PLUS, {**FORM, "texts-0-name": "", "texts-1-name": "Alles"}, page=PLUS)
    german = admin.get(PAGE, headers={"Accept-Language": "de"}).text
    names = [
        re.findall(r'<h3 dir="auto">([^<]*)', page)[-1] for page in (german, admin.get(PAGE).text)
    ]
    assert names == ["Alles", FORM["name"]]


@pytest.mark.parametrize("page", ["/pricing/history", "/pricing/history/1", PLUS])
def test_a_plan_has_the_name_of_the_readers_language_in_history_and_form(
    admin: Browser, page: str
) -> None:
    texts = {**FORM, "texts-0-name": "", "texts-1-name": "Wachstum"}
    for name in ("Growth", "Scale"):
        admin.post(PLUS, {**texts, "name": name}, page=PLUS)
        admin.post("/pricing/publish", page="/pricing/publish")
    german = admin.get(page, headers={"Accept-Language": "de"}).text
    headings = r'<(?:h1|h3|strong|p class="strong")(?: dir="auto")?>([^<]*)'
    assert "Wachstum" in re.findall(headings, german)


def test_a_plan_begins_with_its_price_and_its_texts_in_other_languages_are_closed(
    admin: Browser,
) -> None:
    page = admin.get(PLUS).text
    assert page.index('id="amount"') < page.index('id="name"')
    assert '<details class="more-choices">' in page


def test_the_review_lists_only_the_languages_whose_texts_change(admin: Browser) -> None:
    texts = {**FORM, "texts-0-name": "", "texts-1-name": "Alles", "texts-2-name": "Todo"}
    admin.post(PLUS, texts, page=PLUS)
    admin.post("/pricing/publish", page="/pricing/publish")
    admin.post(PLUS, {**texts, "texts-1-name": "Mehr"}, page=PLUS)
    review = words(admin.get("/pricing/publish").text)
    assert "In other languages Deutsch: Alles Deutsch: Mehr" in review
    assert "Todo" not in review


@pytest.mark.parametrize("script", [True, False], ids=["fragment", "page"])
def test_the_card_of_a_plan_is_previewed_in_the_language_that_is_chosen(
    admin: Browser, *, script: bool
) -> None:
    headers = {"HX-Request": "true"} if script else {}
    typed = {**FORM, "texts-0-name": "", "texts-1-name": "Wachstum"}
    german = {**typed, "card": "de"}
    shown = [
        (re.findall(r"<h3[^>]*>([^<]*)", html), re.findall(r'name="card" value="(\w+)" form', html))
        for html in (
            admin.post(f"{PLUS}/preview", sent, page=PLUS, headers=headers).text
            for sent in (typed, german, {**typed, "card": "fr"}, {**typed, "card": "xx"})
        )
    ]
    assert shown == [
        (["Growth"], ["en"]),
        (["Wachstum"], ["de"]),
        (["Growth"], ["fr"]),
        (["Growth"], ["en"]),
    ]
    page = admin.post(f"{PLUS}/preview", german, page=PLUS, headers=headers)
    assert "149 € pro Monat" in words(page.text).replace("\N{NO-BREAK SPACE}", " ")


def test_the_review_shows_the_cards_in_the_language_of_the_user(admin: Browser) -> None:
    admin.post(PLUS, {**FORM, "texts-0-name": "", "texts-1-name": "Wachstum"}, page=PLUS)
    review = admin.get("/pricing/publish", headers={"Accept-Language": "de"}).text
    assert "Wachstum" in re.findall(r"<h3[^>]*>([^<]*)", review)
