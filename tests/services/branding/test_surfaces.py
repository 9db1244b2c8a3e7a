"""The places that show a brand, and a description of the parts that are missing there."""

from typing import Any

from sqlalchemy.orm import Session

from app.services import partners
from app.services.branding.brand import of_content
from app.services.branding.drafts import published_content
from app.services.branding.surfaces import missing, surfaces
from tests.fixtures.tenants import OPERATOR, make_partner

COMPLETE: dict[str, Any] = {
    "productName": "Northwind Voice",
    "brandUIColors": [{"name": "primary", "value": "#1c7a4d"}],
    "logoImgUrl": f"https://portal.example/brand/images/{'a' * 64}",
    "siteImages": [
        {"type": "favicon", "imageUrl": f"https://portal.example/brand/images/{'b' * 64}"}
    ],
    "supportEmail": "support@northwind.example",
    "showEmbeddedChat": True,
    "chatAgentId": "an-assistant",
    "domain": "portal.northwind.example",
}


def test_nearly_every_surface_of_a_new_partner_is_incomplete(session: Session) -> None:
    assert [surface.name for surface in missing(make_partner(session))] == [
        "Product name",
        "Sign-in page",
        "Portal",
        "Browser tab",
        "Password recovery",
        "Emails",
        "Error pages",
        "Portal domain",
    ]


def test_every_surface_of_a_complete_brand_is_complete(session: Session) -> None:
    partner = make_partner(session, **COMPLETE)
    partners.verify_domain(session, OPERATOR, partner.id)
    assert missing(partner) == []
    assert len(surfaces(partner)) == 9
    shows = {one.name: one.shows for one in surfaces(partner)}
    assert shows["Emails"] == f"Replies go to {COMPLETE['supportEmail']}."
    assert shows["Portal domain"] == f"{COMPLETE['domain']}, verified."


def test_a_picture_elsewhere_is_missing_until_it_is_fetched(session: Session) -> None:
    partner = make_partner(session, **{**COMPLETE, "logoImgUrl": "https://cdn.example/logo.png"})
    partner.outside_pictures[0].problem = "cdn.example answered with status 404."
    assert [(one.name, one.problem) for one in missing(partner)][:1] == [
        (
            "Portal",
            ("cdn.example answered with status 404. Your name and its first letter are shown."),
        )
    ]


def test_incomplete_surfaces_come_first(session: Session) -> None:
    partner = make_partner(session, **COMPLETE)
    first, *rest = surfaces(partner)
    assert (first.name, first.problem) == (
        "Portal domain",
        f"{COMPLETE['domain']} is not verified yet. Customers use the neutral address until then.",
    )
    assert [surface.problem for surface in rest] == [None] * 8


def test_a_chat_that_can_not_deliver_says_why(session: Session) -> None:
    without_assistant = make_partner(session, **{**COMPLETE, "chatAgentId": None})
    without_support = make_partner(session, "Southbank", **{**COMPLETE, "supportEmail": None})
    message = [
        next(surface.problem for surface in surfaces(partner) if surface.name == "Chat bubble")
        for partner in (without_assistant, without_support)
    ]
    assert message == [
        "Switched on, but no assistant is chosen. It is not shown.",
        "Switched on, but there is no support email to send messages to. It is not shown.",
    ]


def test_surfaces_of_a_draft_are_judged_by_the_draft(session: Session) -> None:
    partner = make_partner(session)
    content = {**published_content(session, OPERATOR, partner), "productName": "Northwind Voice"}
    assert "Product name" in {surface.name for surface in missing(partner)}
    of_draft = missing(partner, of_content(partner, content))
    assert "Product name" not in {surface.name for surface in of_draft}
