"""Every field that a partner may write has its place on a page."""

import re
from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import User
from app.schemas.base import wire_name
from app.schemas.parsing import read
from app.schemas.partners import UpdateBrandInput, UpdatePartnerInput
from app.services import mails, partners
from app.services.branding.brand import of_partner
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

STUDIO, SETTINGS, PRICING = "/branding", "/settings", "/pricing/plans/customerPlusPlan"
CONTROLS: dict[str, tuple[str, str]] = {
    "logoImgUrl": (STUDIO, "logo-picture"),
    "siteImages": (STUDIO, "hero-picture"),
    "brandUIColors": (STUDIO, "colour"),
    "chatTemplateColors": (STUDIO, "chat_header"),
    "customHeaderLinks": (STUDIO, "header_links-0-url"),
    "socialLinks": (STUDIO, "social_links-0-url"),
    "showBrandingToggle": (STUDIO, "show_branding_toggle"),
    "showCharacterToggle": (STUDIO, "show_character_toggle"),
    "showEmbeddedChat": (STUDIO, "show_embedded_chat"),
    "chatAgentId": (STUDIO, "chat_assistant_id"),
    "productName": (STUDIO, "product_name"),
    "defaultAgentName": (STUDIO, "default_assistant_name"),
    "partnerUpgradeMessage": (STUDIO, "partner_upgrade_message"),
    "demoLink": (STUDIO, "demo_link"),
    "partnerName": (SETTINGS, "partner_name"),
    "partnerType": (SETTINGS, "partner_type"),
    "domain": (SETTINGS, "domain"),
    "emailDomain": (SETTINGS, "email_domain"),
    "supportEmail": (SETTINGS, "support_email"),
    "notificationEmail": (SETTINGS, "notification_email"),
    "trackingEmail": (SETTINGS, "tracking_email"),
    "billingEmail": (SETTINGS, "billing_email"),
    "collectionEmail": (SETTINGS, "collection_email"),
    "paymentMethodId": (SETTINGS, "payment_method_id"),
    "defaultService": (SETTINGS, "default_service"),
    "defaultAgentLimit": (SETTINGS, "default_assistant_limit"),
    "purchaseLink": (SETTINGS, "purchase_link"),
    "partnerRedirectLink": (SETTINGS, "partner_redirect_link"),
    "allowedQueryParams": (SETTINGS, "allowed_query_params"),
    "pricing": (PRICING, "amount"),
    "tagline": (STUDIO, "tagline"),
    "mailGreeting": (STUDIO, "mail_greeting"),
    "textsByLanguage": (STUDIO, "texts_by_language-1-tagline"),
    "darkLogoUrl": (STUDIO, "dark-logo-picture"),
}
"""Contract name -> the page and the id of a control on it."""


def labelled(html: str) -> set[str]:
    """The ids of all controls that have a label."""
    return set(re.findall(r'<label[^>]* for="([^"]+)"', html)) & set(
        re.findall(r'<(?:input|select|textarea)[^>]* id="([^"]+)"', html)
    )


def test_the_studio_has_every_field_of_the_interface() -> None:
    assert CONTROLS.keys() == set(UpdateBrandInput.wire_fields())


@pytest.mark.parametrize("page", [STUDIO, SETTINGS, PRICING])
def test_an_admin_finds_every_field(tenant: Tenant, signed_in: SignedIn, page: str) -> None:
    html = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(page).text
    wanted = {control for place, control in CONTROLS.values() if place == page}
    assert wanted - labelled(html) == set()


def test_an_editor_finds_what_an_editor_may_write_and_no_more(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    places = {CONTROLS[wire_name(name)][0] for name in partners.EDITOR_FIELDS}
    assert places == {STUDIO}
    assert editor.get(STUDIO).status_code == 200
    assert [editor.get(page).status_code for page in (SETTINGS, PRICING)] == [404, 404]


def test_published_texts_are_on_the_pages_and_in_the_mails_of_customers(
    session: Session, tenant: Tenant, browser: Browser, signed_in: SignedIn
) -> None:
    elsewhere = "https://youtube.com/@northwind?a=1&b=2"
    demo = "https://demo.northwind.example/"
    shown = {"socialLinks": [{"type": "youtube", "url": elsewhere}], "demoLink": demo}
    changes = read(UpdatePartnerInput, {**shown, "showBrandingToggle": True})
    changed = partners.update(session, OPERATOR, tenant.partner.id, changes)
    session.commit()
    entrance = browser.get(f"/p/{tenant.partner.slug}/sign-in").text
    mail = mails.sample(of_partner(changed), "https://northwind.example")
    escaped = elsewhere.replace("&", "&amp;")
    assert f'<a href="{escaped}" rel="noopener">YouTube</a>' in entrance
    assert f'<a href="{demo}" rel="noopener">See a demo</a>' in entrance
    assert re.search(rf'href="{re.escape(escaped)}"[^>]*>YouTube</a>', mail.html)
    assert f"YouTube: {elsewhere}\n" in mail.text
    powered = f"Powered by {changed.name}"
    assert powered in signed_in(tenant.user).get("/").text
    assert powered not in signed_in(tenant.staff[Role.ADMIN]).get("/").text
