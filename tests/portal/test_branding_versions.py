"""Versions of a brand: who published what, a comparison of two, and rolling back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import ImageType, Role
from app.models import User
from app.services import partners
from app.services.branding import drafts
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, user_of
from tests.portal.page_text import text_of

SignedIn = Callable[[User], Browser]


def publish(session: Session, tenant: Tenant, **changes: Any) -> None:
    """A version with these fields, in the contract's names."""
    caller = tenant.caller(Role.PARTNER_EDITOR)
    drafts.save(session, caller, tenant.partner, changes)
    drafts.publish(session, caller, tenant.partner)
    session.commit()


@pytest.fixture
def published_brands(tenant: Tenant, session: Session) -> None:
    green, blue = ([{"name": "primary", "value": value}] for value in ("#1c7a4d", "#1c4d7a"))
    publish(session, tenant, productName="Northwind Voice", brandUIColors=green)
    publish(session, tenant, brandUIColors=blue, showCharacterToggle=True)


@pytest.fixture
def editor(tenant: Tenant, signed_in: SignedIn, published_brands: None) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_EDITOR])


def rows(html: str) -> list[list[str]]:
    """The cells of the table, as read."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL) for row in body.split("<tr")[1:]]
    return [[text_of(cell) for cell in row] for row in cells]


def product_name(session: Session, tenant: Tenant) -> str:
    session.expire_all()
    return partners.get(session, OPERATOR, tenant.partner.id).product_name


def test_the_history_names_each_version_its_author_and_what_it_changed(editor: Browser) -> None:
    listed = rows(editor.get("/branding/history").text)
    author = "partnerEditor@ northwind. example"
    assert [(row[0], row[2], row[3]) for row in listed] == [
        ("Version 2 What customers see", author, "Colours, Choice of the assistant’s character"),
        ("Version 1", author, "Colours, Product name"),
        ("Original settings Before you first published", "–", "–"),
    ]


def test_an_author_with_a_long_address_publishes(tenant: Tenant, session: Session) -> None:
    editor = tenant.staff[Role.PARTNER_EDITOR]
    editor.email = editor.email_key = f"{'e' * 230}@northwind.example"
    publish(session, tenant, productName="Northwind Voice")
    assert product_name(session, tenant) == "Northwind Voice"


def test_a_version_that_customers_see_again_says_why_it_has_no_way_back(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    green = [{"name": "primary", "value": "#1c7a4d"}]
    publish(session, tenant, brandUIColors=green, showCharacterToggle=False)
    ways = {row[0]: row[4] for row in rows(editor.get("/branding/history").text)}
    assert ways == {
        "Version 3 What customers see": "",
        "Version 2": "Roll back…",
        "Version 1": "Same as now",
        "Original settings Before you first published": "Roll back…",
    }


def test_a_version_is_compared_with_the_one_before_it(editor: Browser) -> None:
    page = editor.get("/branding/history/2").text
    assert rows(page) == [
        ["Colours", "#1c7a4d", "#1c4d7a"],
        ["Choice of the assistant’s character", "Off", "On"],
    ]
    assert 'fill="#1c7a4d"' in page
    assert 'fill="#1c4d7a"' in page


def test_a_version_is_compared_with_the_published_one(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    publish(session, tenant, productName="Northwind Answers")
    page = editor.get("/branding/history/1?with=now").text
    assert [row[0] for row in rows(page)] == [
        "Colours",
        "Product name",
        "Choice of the assistant’s character",
    ]
    assert "3 fields are different now" in page


def test_the_first_version_has_none_before_it(editor: Browser) -> None:
    page = editor.get("/branding/history/0").text
    assert "There is no earlier version to compare with." in page
    assert "What your customers saw before you first published your brand." in page


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_first_version_can_be_rolled_back_to_the_brand_before_it(
    tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    before = tenant.partner.product_name
    publish(session, tenant, productName="Northwind Voice")
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    way_back = "/branding/history/0/roll-back"
    for page in ("/branding?published=1", "/branding/history", "/branding/history/1"):
        assert way_back in editor.get(page).text
    editor.post(way_back, page=way_back)
    assert product_name(session, tenant) == before


def test_a_change_by_a_script_since_then_is_shown(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.product_name = "Set by a script"
    session.commit()
    assert "1 field was changed since version 2" in editor.get("/branding/history").text


def published_picture(
    session: Session, tenant: Tenant, kind: ImageType, url: str | None, **changes: Any
) -> None:
    """A version with a picture, set as the studio sets it."""
    caller = tenant.caller(Role.PARTNER_EDITOR)
    drafts.set_image(session, caller, tenant.partner, kind, url)
    if changes:
        drafts.save(session, caller, tenant.partner, changes)
    drafts.publish(session, caller, tenant.partner)
    session.commit()


def test_published_pictures_are_what_customers_see_in_any_order(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    logo, dark, icon = (f"https://northwind.example/{name}.png" for name in ("a", "b", "c"))
    published_picture(session, tenant, ImageType.LOGO, logo, darkLogoUrl=dark)
    now = editor.get("/branding/history/3?with=now").text
    assert "Nothing is different now" in now
    assert "since version" not in editor.get("/branding/history").text
    published_picture(session, tenant, ImageType.FAVICON, icon)
    published_picture(session, tenant, ImageType.LOGO, f"{logo}?2")
    assert "since version" not in editor.get("/branding/history").text
    assert rows(editor.get("/branding/history/5").text) == [["Logo", "Logo", "Logo"]]
    assert rows(editor.get("/branding/history/4").text) == [["Pictures", "–", "Favicon"]]
    assert rows(editor.get("/branding/history/3").text) == [
        ["Dark logo", "–", "Dark logo"],
        ["Logo", "–", "Logo"],
    ]
    kept = partners.get(session, OPERATOR, tenant.partner.id)
    assert [(each.type, each.image_url) for each in kept.site_images] == [
        (ImageType.FAVICON, icon),
        (ImageType.LOGO, f"{logo}?2"),
    ]


def test_pictures_that_the_portal_serves_are_shown_in_comparisons(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    path, outside = f"/brand/images/{'a' * 64}", "https://northwind.example/b.png"
    published_picture(session, tenant, ImageType.LOGO, f"https://portal.example{path}")
    published_picture(session, tenant, ImageType.LOGO, outside)
    page = editor.get("/branding/history/4").text
    assert re.findall(r'class="value-picture[^"]*" src="([^"]+)"', page) == [path]
    assert f'href="{outside}"' in page


def test_rolling_back_shows_the_differences_and_publishes_at_once(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    publish(session, tenant, productName="A slip")
    asked = editor.get("/branding/history/2/roll-back").text
    assert "Roll back to version 2?" in asked
    assert rows(asked) == [["Product name", "A slip", "Northwind Voice"]]
    answer = editor.post("/branding/history/2/roll-back", page="/branding/history/2/roll-back")
    assert (answer.status_code, answer.location) == (303, "/branding?rolled_back=2&published=1")
    assert product_name(session, tenant) == "Northwind Voice"
    studio = text_of(editor.get(answer.location).text)
    assert "Version 4 is published It is version 2 again. Everyone sees it from the" in studio
    assert drafts.draft_of(session, tenant.partner) is None


def test_rolling_back_asks_again_if_the_brand_changed_meanwhile(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    way_back = "/branding/history/1/roll-back"
    seen = editor.get(way_back).text
    publish(session, tenant, productName="Meanwhile")
    version = seen.partition('name="version" value="')[2].partition('"')[0]
    answer = editor.post(way_back, {"version": version}, page=way_back)
    assert answer.status_code == 409
    assert ["Product name", "Meanwhile", "Northwind Voice"] in rows(answer.text)
    assert product_name(session, tenant) == "Meanwhile"


def test_rolling_back_to_the_published_brand_changes_nothing(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    way_back = "/branding/history/2/roll-back"
    assert "Nothing to roll back" in editor.get(way_back).text
    answer = editor.post(way_back, page="/branding")
    assert (answer.status_code, answer.location) == (303, way_back)
    assert "Version 3" not in editor.get("/branding/history").text
    assert drafts.draft_of(session, tenant.partner) is None


def offers_roll_back(browser: Browser) -> dict[str, bool]:
    """Whether each page offers to roll back to a version."""
    return {
        page: f"/branding/history/{number}/roll-back" in browser.get(page).text
        for number in (1, 2)
        for page in (f"/branding/history/{number}", f"/branding/history/{number}?with=now")
    }


def test_rolling_back_is_offered_only_on_versions_that_are_not_live(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    listed = "/branding/history/2/roll-back"
    assert offers_roll_back(editor) == {
        "/branding/history/1": True,
        "/branding/history/1?with=now": True,
        "/branding/history/2": False,
        "/branding/history/2?with=now": False,
    }
    assert "/branding/history/1/roll-back" in editor.get("/branding/history/2").text
    assert listed not in editor.get("/branding/history").text
    tenant.partner.product_name = "Set by a script"
    session.commit()
    assert set(offers_roll_back(editor).values()) == {True}
    assert listed in editor.get("/branding/history").text


def test_a_draft_is_never_overwritten_by_rolling_back(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    changes = {"productName": "Half done"}
    drafts.save(session, tenant.caller(Role.PARTNER_ADMIN), tenant.partner, changes)
    session.commit()
    answer = editor.post("/branding/history/1/roll-back", page="/branding")
    assert answer.status_code == 409
    assert "There is a draft with 1 change" in answer.text
    draft = drafts.draft_of(session, tenant.partner)
    assert draft is not None
    assert draft.content["productName"] == "Half done"


@pytest.mark.parametrize("number", [3, 2**31, 10**30])
def test_an_unknown_version_is_not_found(
    session: Session, tenant: Tenant, editor: Browser, number: int
) -> None:
    before = drafts.published_content(session, OPERATOR, tenant.partner)
    for path in (f"/branding/history/{number}", f"/branding/history/{number}/roll-back"):
        assert editor.get(path).status_code == 404
    answer = editor.post(f"/branding/history/{number}/roll-back", page="/branding")
    assert answer.status_code in (404, 405)  # 405 where the number isn't a number of ours
    session.refresh(tenant.partner)
    assert drafts.published_content(session, OPERATOR, tenant.partner) == before


def test_versions_of_another_partner_are_not_found(
    editor: Browser, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert stranger.get("/branding/history/1").status_code == 404
    assert stranger.post("/branding/history/1/roll-back", page="/branding").status_code == 404
    assert "No versions yet" in stranger.get("/branding/history").text


@pytest.mark.parametrize("path", ["history", "history/1", "history/1/roll-back", "contrast"])
@pytest.mark.parametrize("role", [Role.ADMIN, Role.STANDARD])
def test_users_who_may_not_change_the_brand_find_no_versions(
    tenant: Tenant, published_brands: None, signed_in: SignedIn, role: Role, path: str
) -> None:
    person = user_of(tenant, role)
    assert signed_in(person).get(f"/branding/{path}").status_code == 404


def test_rolling_back_before_the_first_version_names_the_original_settings(editor: Browser) -> None:
    page = editor.get("/branding/history/0").text
    assert "Roll back to the original settings…" in page
    confirmation = editor.get("/branding/history/0/roll-back").text
    assert "Roll back to the original settings?" in confirmation
    assert all("ersion 0" not in text for text in (page, confirmation))
