"""Find: everything the reader may see, by whatever they know of it."""

import re
from collections.abc import Callable

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CallStatus, Role
from app.models import Assistant, Organization, User
from app.portal.search.highlight import highlighted
from app.portal.search.pages import ACTIONS, PAGES
from app.portal.web.formats import phone
from app.services import campaigns
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from app.services.credentials import api_keys
from tests.fixtures.phone_numbers import assign
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant, make_user
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call

SignedIn = Callable[[User], Browser]
Hits = dict[str, list[str]]


@pytest.fixture
def ids_by_name(session: Session, tenant: Tenant, other_tenant: Tenant) -> dict[str, str]:
    """The ids of what there is to find, by what it is."""
    found = {}
    for each in (tenant, other_tenant):
        admin = each.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, admin, each.plus.id, name="Winter recall")
        call = make_call(session, each.plus, "+12025550101", status=CallStatus.BUSY)
        each.plus.referral_code = "BRIGHT-7"
        if each is tenant:
            found = {
                "organization": str(each.plus.id),
                "user": str(each.plus_user.id),
                "assistant": str(call.assistant_id),
                "campaign": str(campaign.id),
                "call": str(call.id),
            }
    session.commit()
    return found


def hits(html: str) -> Hits:
    """The links under each heading of the page."""
    found = {}
    for section in re.findall(r'<section class="section text">(.*?)</section>', html, re.DOTALL):
        heading = re.findall(r"<h2[^>]*>([^<]+)", section)[0]
        found[heading] = re.findall(r'class="list-row-title" href="([^"]+)"', section)
    return found


def own_paths(ids_by_name: dict[str, str], *kinds: str) -> Hits:
    places = {
        "organization": ("Organizations", "/organizations/"),
        "user": ("Users", "/users/"),
        "assistant": ("Assistants", "/assistants/"),
        "campaign": ("Campaigns", "/campaigns/"),
        "call": ("Calls", "/calls/"),
    }
    return {places[kind][0]: [places[kind][1] + ids_by_name[kind]] for kind in kinds}


def test_the_page_and_the_top_bars_field_each_get_their_part_while_typing(
    ids_by_name: dict[str, str], tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    of_page, of_top_bar = (
        browser.get("/search?q=winter", headers={"HX-Request": "true", "HX-Target": target}).text
        for target in ("found", "search-list")
    )
    campaign = f'href="/campaigns/{ids_by_name["campaign"]}"'
    assert campaign in of_page.partition('id="found"')[2]
    assert campaign in of_top_bar
    assert 'id="found"' not in of_top_bar


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("DENTAL", ("organization", "user", "assistant", "campaign")),
        ("bright", ("organization",)),
        ("PAUL@northwind.example", ("organization", "user")),
        ("paul@south", ()),
        ("winter", ("campaign",)),
        ("+1 (202) 555-0101", ("call",)),
        ("202-555-0101", ("call",)),
        ("+120255", ("call",)),
        ("x", ()),
        ("%", ()),
        ("nothing of the kind", ()),
    ],
)
def test_records_are_found_by_their_names_emails_and_numbers(
    tenant: Tenant,
    ids_by_name: dict[str, str],
    signed_in: SignedIn,
    words: str,
    kinds: tuple[str, ...],
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/search", query_string={"q": words})
    assert hits(page.text) == own_paths(ids_by_name, *kinds)


@pytest.mark.parametrize("kind", ["organization", "user", "campaign", "call"])
def test_an_id_finds_its_record(
    tenant: Tenant,
    other_tenant: Tenant,
    ids_by_name: dict[str, str],
    signed_in: SignedIn,
    kind: str,
) -> None:
    path = f"/search?q={ids_by_name[kind]}"
    assert hits(signed_in(tenant.staff[Role.ADMIN]).get(path).text) == own_paths(ids_by_name, kind)
    assert hits(signed_in(other_tenant.staff[Role.ADMIN]).get(path).text) == {}


def test_screens_and_actions_are_found_by_their_words_where_they_may_be_opened(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    admin, member = signed_in(tenant.staff[Role.PARTNER_ADMIN]), signed_in(tenant.user)
    assert hits(admin.get("/search?q=bran").text) == {"Screens": ["/branding", "/branding/history"]}
    assert hits(admin.get("/search?q=new cre").text) == {
        "Actions": [
            "/organizations/new",
            "/users/invite",
            "/assistants/new",
            "/campaigns/new",
            "/api-access/keys/new",
        ]
    }
    assert hits(admin.get("/search?q=password").text) == {
        "Screens": ["/account#change-password", "/settings/sign-in"]
    }
    assert hits(member.get("/search?q=bran").text) == {}
    assert hits(member.get("/search?q=new cre").text) == {"Actions": ["/campaigns/new"]}


SETTINGS = {
    "domain": ["/settings/domain", "/settings#addresses"],
    "dns": ["/settings/domain"],
    "DNS records": ["/settings/domain"],
    "sign-in": ["/settings/sign-in", "/account#sessions"],
    "sign in": ["/settings/sign-in", "/account#sessions"],
    "directory": ["/settings/directory"],
    "personal data": ["/settings/personal-data"],
    "retention": ["/settings/personal-data"],
    "recordings": ["/settings/personal-data"],
    "budget": ["/settings/spending/budget"],
    "second factor": ["/account/factors", "/settings/sign-in"],
    "two-factor": ["/account/factors", "/settings/sign-in"],
    "language": ["/account#language", "/settings#company"],
    "logo": ["/branding"],
    "sign-in policy": ["/settings/sign-in"],
    "password policy": ["/settings/sign-in"],
    "tagline": ["/branding"],
    "price": ["/pricing", "/pricing/history"],
    "VAT": ["/settings#billing"],
    "currency": ["/pricing"],
    "calling hours": ["/organizations"],
    "time zone": ["/account#timezone"],
    "dark": ["/account#appearance"],
    "SIP": ["/carriers/accounts"],
}


def test_no_line_of_a_german_page_ends_within_the_word_e_mail(
    tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    tenant.staff[Role.PARTNER_ADMIN].language = "de"
    session.commit()
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/search?q=nothing+like+this").text
    sentence = re.search(r"Nichts passt zu[^<]*", page)
    assert sentence
    assert "E-\N{WORD JOINER}Mail-Adresse" in sentence[0]


@pytest.mark.parametrize("words", SETTINGS)
def test_settings_are_found_by_the_names_of_their_fields(
    tenant: Tenant, signed_in: SignedIn, words: str
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/search", query_string={"q": words})
    assert hits(page.text) == {"Screens": SETTINGS[words]}
    assert 'href="/settings' not in signed_in(tenant.user).get(f"/search?q={words}").text


@pytest.mark.parametrize("words", ["sign out", "log out"])
def test_searching_for_sign_out_finds_its_page(
    tenant: Tenant, signed_in: SignedIn, words: str
) -> None:
    browser = signed_in(tenant.user)
    page = browser.get("/search", query_string={"q": words}).text
    assert hits(page) == {"Actions": ["/account#sessions"]}
    assert "Your account" in page.partition('id="found"')[2]
    section = browser.get("/account").text.partition('id="sessions"')[2].partition("</section>")[0]
    assert 'action="/sign-out"' in section


def test_invoices_tax_and_trials_are_found_in_every_place_that_has_them(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    admin, member = signed_in(tenant.staff[Role.PARTNER_ADMIN]), signed_in(tenant.user)
    assert hits(admin.get("/search?q=invoice").text) == {"Screens": ["/costs", "/settings#billing"]}
    assert hits(admin.get("/search?q=tax").text) == {"Screens": ["/costs", "/settings#billing"]}
    assert hits(member.get("/search?q=invoice").text) == {"Screens": ["/plan"]}
    trial = hits(admin.get("/search?q=trial").text)
    assert trial == {"Screens": ["/pricing"], "Actions": ["/numbers/verify"]}


@pytest.mark.parametrize("words", ["southb", "SÖUTHBANK", "southbank.example"])
def test_an_operator_finds_partners(
    session: Session, tenant: Tenant, other_tenant: Tenant, operator: Browser, words: str
) -> None:
    other_tenant.partner.name, other_tenant.partner.domain = "Southbank Zoë", "southbank.example"
    session.commit()
    address = f"/operator/partners/{other_tenant.partner.id}"
    assert hits(operator.get("/search", query_string={"q": words}).text) == {"Partners": [address]}
    assert hits(operator.get(f"/search?q={other_tenant.partner.id}").text) == {
        "Partners": [address]
    }


def test_only_an_operator_finds_partners(
    tenant: Tenant, signed_in: SignedIn, operator: Browser
) -> None:
    tenant.partner.name = "Northwind"
    found = operator.get("/search", query_string={"q": "northwind"}).text
    assert "Partners" in hits(found)
    for user in (tenant.staff[Role.PARTNER_ADMIN], tenant.user):
        for words in ("northwind", str(tenant.partner.id)):
            page = signed_in(user).get("/search", query_string={"q": words}).text
            assert "Partners" not in hits(page)


def test_users_who_may_pause_all_calls_find_pause_and_resume(
    tenant: Tenant, signed_in: SignedIn, operator: Browser
) -> None:
    admin, editor = (
        signed_in(tenant.staff[role]) for role in (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR)
    )
    for words, addresses in (
        ("pause all calls", ["/carriers/pause", "/carriers"]),
        ("resume all calls", ["/carriers"]),
    ):
        assert hits(admin.get(f"/search?q={words}").text) == {"Actions": addresses}
        assert hits(editor.get(f"/search?q={words}").text) == {}
        assert hits(operator.get(f"/search?q={words}").text) == {}


@pytest.mark.parametrize(
    "words", ["+1 (202) 555-0144", "2025550144", "001 202 555 0144", "Ada@Contact.example"]
)
def test_a_contact_is_found_by_its_whole_number_or_address(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn, words: str
) -> None:
    found = {}
    for each in (tenant, other_tenant):
        admin = each.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, admin, each.plus.id, name="Winter recall")
        fields = ContactFields(first_name="Ada", phone="+12025550144", email="ada@contact.example")
        made = single_contact.add(session, admin, campaign.id, fields)
        found[each.partner.id] = f"/campaigns/{campaign.id}/contacts/{made}"
    session.commit()
    query = {"q": words}
    page = signed_in(tenant.staff[Role.ADMIN]).get("/search", query_string=query).text
    assert hits(page) == {"Contacts": [found[tenant.partner.id]]}
    number = phone("+12025550144")
    about = f"{number}, ada@contact.example, Winter recall, Northwind Dental"
    assert about in re.sub("</?mark>", "", page)
    assert hits(signed_in(tenant.plus_user).get("/search", query_string=query).text) == hits(page)
    assert hits(signed_in(tenant.user).get("/search", query_string=query).text) == {}
    part = {"q": words[:-1]}
    assert hits(signed_in(tenant.staff[Role.ADMIN]).get("/search", query_string=part).text) == {}


@pytest.mark.alternating
@pytest.mark.parametrize("role", [*Role])
def test_every_screen_and_action_that_a_role_finds_can_be_opened(
    tenant: Tenant, signed_in: SignedIn, operator: Browser, role: Role
) -> None:
    if role in (Role.OWNER, Role.STANDARD):
        tenant.user.role = role
    browser = operator if role is Role.OPERATOR else signed_in(tenant.staff.get(role, tenant.user))
    found = set()
    for page in (*PAGES, *ACTIONS):
        groups = hits(browser.get("/search", query_string={"q": page.label}).text)
        found |= {*groups.get("Screens", ()), *groups.get("Actions", ())}
    answers = {address: browser.get(address).status_code for address in found}
    assert len(found) > 2
    assert {address for address, status in answers.items() if status not in {200, 302}} == set()


def test_names_are_found_without_their_accents_and_with_them(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    make_user(session, tenant.partner.id, "zofia@warsztat.example", businessName="Łódź Auto Çelik")
    organization = session.scalars(select(Organization).where(Organization.named("lodz"))).one()
    assistant = Assistant(
        partner_id=tenant.partner.id, organization_id=organization.id, name="Zoë Ørsted"
    )
    session.add(assistant)
    campaign = campaigns.create(session, admin, organization.id, name="Frühling – straße")
    session.commit()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])

    def found(words: str) -> Hits:
        return hits(browser.get("/search", query_string={"q": words}).text)

    for words in ("lodz", "ŁÓDŹ", "celik"):
        assert found(words)["Organizations"] == [f"/organizations/{organization.id}"]
    for words in ("zoe ors", "Ørsted"):
        assert found(words) == {"Assistants": [f"/assistants/{assistant.id}"]}
    for words in ("fruhling", "STRASSE"):
        assert found(words) == {"Campaigns": [f"/campaigns/{campaign.id}"]}


def test_keys_clients_and_phone_numbers_are_found_by_those_who_manage_them(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    made = api_keys.create(
        session, admin, organization_id=tenant.plus.id, name="Zürich dialler", live=True
    )
    assign(session, tenant.plus.id, "+12025550177")
    session.commit()
    manager, other = (signed_in(tenant.staff[role]) for role in (Role.PARTNER_ADMIN, Role.ADMIN))
    assert hits(manager.get("/search?q=zurich").text) == {
        "API keys": [f"/api-access/keys/{made.key.id}"]
    }
    assert hits(other.get("/search?q=zurich").text) == {}
    found = hits(manager.get("/search?q=2025550177").text)
    assert found == {"Phone numbers": ["/numbers?q=%2B12025550177"]}


@pytest.mark.parametrize("words", ["ann1@ex.example", "plan 7", "12 Main Street"])
def test_digits_beside_letters_are_not_searched_as_a_number(
    session: Session, tenant: Tenant, signed_in: SignedIn, words: str
) -> None:
    assign(session, tenant.plus.id, "+12025550177")
    ids = {"partner_id": tenant.partner.id, "organization_id": tenant.plus.id}
    session.add(Assistant(**ids, name="Robin", phone_number="+12025550177"))
    session.commit()
    manager = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert hits(manager.get("/search", query_string={"q": words}).text) == {}
    assert [*hits(manager.get("/search?q=0177").text)] == ["Assistants", "Phone numbers"]


def test_a_member_finds_only_records_of_their_organization(
    tenant: Tenant, ids_by_name: dict[str, str], signed_in: SignedIn
) -> None:
    for words, expected in (
        ("winter", own_paths(ids_by_name, "campaign")),
        ("+12025550101", own_paths(ids_by_name, "call")),
        ("dental", {}),
    ):
        path = f"/search?q={words.replace('+', '%2B')}"
        assert hits(signed_in(tenant.plus_user).get(path).text) == expected
        assert hits(signed_in(tenant.user).get(path).text) == {}


def test_the_first_matches_are_shown_and_a_list_shows_the_rest(
    session: Session, tenant: Tenant, signed_in: SignedIn, database: Database
) -> None:
    def grow(count: int) -> None:
        for number in range(count):
            email = f"crowd{count}-{number}@x.example"
            make_user(session, tenant.partner.id, email, businessName=f"Crowd {number}")
            make_call(session, tenant.plus, f"+1303555{number:04}")
        session.commit()

    browser = signed_in(tenant.staff[Role.ADMIN])
    statements = []
    for count in (1, 40):
        grow(count)
        for words in ("crowd", "%2B1303"):
            browser.get(f"/search?q={words}")
            with counted(database.engine) as sent:
                browser.get(f"/search?q={words}")
            statements.append(len(sent))
    assert statements[:2] == statements[2:]
    page = browser.get("/search?q=crowd").text
    assert {group: len(links) for group, links in hits(page).items()} == {
        "Organizations": 5,
        "Users": 5,
        "Assistants": 5,
    }
    assert 'href="/organizations?q=crowd">All matches in Organizations' in page
    assert 'href="/users?q=crowd">All matches in Users' in page
    calls = browser.get("/search?q=%2B1303").text
    assert 'href="/calls?number=%2B1303">All matches in Calls' in calls


def test_near_names_are_offered_where_nothing_matches(
    ids_by_name: dict[str, str], tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = browser.get("/search?q=Wniter").text
    assert "Nothing matches “Wniter”. Did you mean:" in page
    assert hits(page) == own_paths(ids_by_name, "campaign")
    assert hits(browser.get("/search?q=barnding").text) == {"Screens": ["/branding"]}
    assert "Did you mean" not in browser.get("/search?q=Winter").text
    top_bar = browser.get("/search?q=Wniter", headers={"HX-Request": "true"}).text
    assert f'href="/campaigns/{ids_by_name["campaign"]}"' in top_bar
    assert "data-query" not in top_bar, "Enter opens the page and not a record with another name"


def test_the_field_of_the_top_bar_gets_a_list_without_the_page(
    tenant: Tenant, ids_by_name: dict[str, str], signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.ADMIN])
    quick = browser.get("/search?q=dental", headers={"HX-Request": "true"}).text
    assert re.findall(r'class="search-result" href="([^"]+)"', quick) == [
        f"/organizations/{ids_by_name['organization']}",
        f"/users/{ids_by_name['user']}",
        f"/assistants/{ids_by_name['assistant']}",
        f"/campaigns/{ids_by_name['campaign']}",
    ]
    assert 'href="/search?q=dental">All matches of “dental”' in quick
    assert "<html" not in quick
    assert browser.get("/search?q=", headers={"HX-Request": "true"}).text.strip() == ""
    nothing = browser.get("/search?q=zzzz", headers={"HX-Request": "true"}).text
    assert "Contacts are found only by their full number or email address." in nothing
    assert re.findall(r'role="status">([^<]*)<', nothing) == ["No matches"]
    assert re.findall(r'role="status">([^<]*)<', quick) == [
        "4 matches. Press Enter to open the first."
    ]


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("Łódź Auto", "lodz", "<mark>Łódź</mark> Auto"),
        ("Große Straße", "STRASSE", "Große <mark>Straße</mark>"),
        ("Recall Winter", "winter recall", "<mark>Recall</mark> <mark>Winter</mark>"),
        ("Sign-in", "sign in", "<mark>Sign-in</mark>"),
        ("+1 202-555-0101, Busy", "(202) 555", "+1 <mark>202-555</mark>-0101, Busy"),
        ("+1 202-555-0101", "+1 (20", "+<mark>1 20</mark>2-555-0101"),
        ("+1 202-555-0101", "+1", "+1 202-555-0101"),
        ("<b> & Sons", "& sons", "&lt;b&gt; <mark>&amp; Sons</mark>"),
        ("Northwind", "id-1", "Northwind"),
        ("Northwind", "", "Northwind"),
    ],
)
def test_the_part_that_matches_is_marked(text: str, words: str, marked: str) -> None:
    assert str(highlighted(text, words)) == marked


def test_users_who_may_upload_contacts_find_the_upload_page(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.user)
    assert hits(browser.get("/search?q=upload").text) == {
        "Screens": ["/uploads", "/storage"],
        "Actions": ["/uploads/new"],
    }
