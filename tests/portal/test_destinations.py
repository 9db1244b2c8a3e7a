"""Call destinations on screen: the operator's limits, the partner's choice, an organization's."""

from collections.abc import Callable
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import AuditEntry, PartnerDestinations, User
from app.services import destinations
from app.services.destinations import DestinationLimits
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

PAGE = "/settings/destinations"
LIMITS = "/operator/destinations"


def opened(session: Session, tenant: Tenant) -> tuple[list[str], list[str]]:
    session.expire_all()
    found = session.get(PartnerDestinations, tenant.partner.id)
    return (found.regions, found.hosts) if found else ([], [])


def test_a_partner_admin_opens_countries_and_hosts(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    typed = {"regions": ["CA", "GB"], "hosts": "Voice.Example\r\n*.voice.example"}
    answer = admin.post(PAGE, typed | {"version": "0"}, page=PAGE)
    assert (answer.status_code, answer.location) == (303, PAGE)
    assert opened(session, tenant) == (["CA", "GB"], ["*.voice.example", "voice.example"])
    last = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert last is not None
    assert (last.action, last.actor, last.before, last.after) == (
        "partner.destinations_opened",
        tenant.staff[Role.PARTNER_ADMIN].email,
        {"allowedRegions": [], "hosts": []},
        {"allowedRegions": ["CA", "GB"], "hosts": ["*.voice.example", "voice.example"]},
    )


def test_without_a_choice_the_page_says_which_country_is_open(
    tenant: Tenant, admin: Browser
) -> None:
    words = "Customers can call only their own country."
    assert words in admin.get(PAGE).text
    admin.post(PAGE, {"regions": ["CA"], "version": "0"}, page=PAGE)
    assert words not in admin.get(PAGE).text
    settings = admin.get(f"/organizations/{tenant.organization.id}/settings").text
    assert settings.count("United States (own country, always open)") == 1
    assert settings.count("(own country, always open)") == 1


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"regions": ["CU"]}, "Only the platform operator can open: Cuba."),
        ({"regions": ["ZZ"]}, "is not a valid choice"),
        ({"hosts": "voice.example/path"}, "voice.example/path isn’t a host."),
        ({"hosts": "elsewhere.test"}, "elsewhere.test isn’t allowed."),
    ],
)
def test_a_country_closed_by_the_operator_can_not_be_opened(
    session: Session, tenant: Tenant, admin: Browser, typed: dict[str, object], words: str
) -> None:
    destinations.change_limits(
        session, OPERATOR, DestinationLimits(None, ["*.example"]), tenant.partner.id
    )
    session.commit()
    answer = admin.post(PAGE, typed | {"version": "1"}, page=PAGE)
    assert answer.status_code == 422
    assert words in unescape(answer.text)
    assert opened(session, tenant) == ([], [])


def test_the_operator_limits_the_installation_and_a_partner(
    session: Session, tenant: Tenant, operator: Browser, admin: Browser
) -> None:
    page = operator.get(LIMITS).text
    assert f'href="{LIMITS}/{tenant.partner.id}"' in page
    saved = operator.post(LIMITS, {"regions": ["US", "GB"], "version": "0"}, page=LIMITS)
    assert (saved.status_code, saved.location) == (303, LIMITS)
    own_limits = f"{LIMITS}/{tenant.partner.id}"
    typed = {"limited": "y", "regions": ["US", "DE"], "hosts": "voice.example", "version": "0"}
    saved = operator.post(own_limits, typed, page=own_limits)
    assert (saved.status_code, saved.location) == (303, LIMITS)
    session.expire_all()
    assert destinations.openable_by_partner(session, tenant.partner.id) == {"US"}
    choices = admin.get(PAGE).text
    assert 'value="US"' in choices
    assert 'value="GB"' not in choices


def test_a_limit_of_a_partner_without_a_country_is_refused(
    tenant: Tenant, operator: Browser
) -> None:
    own_limits = f"{LIMITS}/{tenant.partner.id}"
    refused = operator.post(
        own_limits, {"limited": "y", "hosts": "", "version": "0"}, page=own_limits
    )
    assert refused.status_code == 422
    assert "Choose at least one country, or clear the limit." in unescape(refused.text)


def test_an_organization_is_offered_open_countries_and_keeps_those_closed_since(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.organization.allowed_regions = ["GB", "US"]
    session.commit()
    page = unescape(admin.get(f"/organizations/{tenant.organization.id}/settings").text)
    assert "United Kingdom (not open)" in page
    assert 'id="region-US"' in page
    assert 'id="region-FR"' not in page


def test_an_assistants_voice_address_needs_a_host_that_is_allowed(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    address = f"/assistants/new?organization={tenant.organization.id}"
    tenant.organization.assistant_limit = 3
    session.commit()
    typed = {"name": "Robin", "once": "a1"}
    destinations.change_choice(
        session,
        OPERATOR,
        tenant.partner.id,
        destinations.DestinationChoice(frozenset(), ["voice.example", "127.0.0.1"]),
    )
    session.commit()
    refused = {
        given: unescape(admin.post(address, typed | {"voice_address": given}, page=address).text)
        for given in ("sip:robin@other.example", "sip:911@voice.example", "sip:robin@127.0.0.1")
    }
    advice = "A partner admin can allow this host"
    assert [given for given, page in refused.items() if advice in page] == [
        "sip:robin@other.example"
    ]
    assert "911 is an emergency number." in refused["sip:911@voice.example"]
    assert "Enter an address with a public host." in refused["sip:robin@127.0.0.1"]
    saved = admin.post(address, typed | {"voice_address": "sip:robin@voice.example"}, page=address)
    assert saved.status_code == 303
