"""The branding studio: what is saved stays a draft until it is published."""

import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from html import unescape
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import ImageType, Role
from app.errors import ValidationFailed
from app.languages import LANGUAGES, using_language
from app.models import BrandVersion, User, utcnow
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import mails, partners
from app.services.branding import images, outside_pictures
from app.services.branding.brand import of_partner
from app.services.branding.shades import sheet_for
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

PAGE = "/branding"
FORM = {
    "product_name": "Northwind Voice",
    "colour": "#1c7a4d",
    "header_links-0-label": "Help",
    "header_links-0-url": "https://help.northwind.example/",
    "header_links-1-label": "",
    "header_links-1-url": "",
    "social_links-0-type": "",
    "social_links-0-url": "",
    "chat_assistant_id": "",
    "show_branding_toggle": "y",
    "default_assistant_name": "",
    "partner_upgrade_message": "",
    "demo_link": "",
}


@pytest.fixture
def editor(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_EDITOR])


def picture(width: int = 300, height: int = 60, kind: str = "PNG") -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "#1c7a4d").save(out, kind)
    out.seek(0)
    return out


def content(session: Session, tenant: Tenant) -> dict[str, Any]:
    session.expire_all()
    partner = partners.get(session, OPERATOR, tenant.partner.id)
    return partners.to_resource(partner, OPERATOR).model_dump(mode="json", by_alias=True)


def sheet_of(html: str) -> str:
    found = re.search(r'href="(/brand/[0-9a-f]{6}-[0-9a-f]{16}\.css)"', html)
    assert found
    return found.group(1)


def test_saving_changes_the_draft_and_nothing_that_customers_see(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    before = content(session, tenant)
    answer = editor.post(PAGE, FORM, page=PAGE)
    assert (answer.status_code, answer.location) == (303, "/branding?saved=1")
    assert content(session, tenant) == before
    studio = editor.get(answer.location).text
    assert "Draft: 4 changes" in studio
    assert "Review changes" in studio


def test_publishing_shows_the_draft_to_everyone(
    editor: Browser, browser: Browser, tenant: Tenant, session: Session
) -> None:
    editor.post(PAGE, FORM, page=PAGE)
    answer = editor.post("/branding/publish", page=PAGE)
    assert (answer.status_code, answer.location) == (303, "/branding?published=1")
    assert "Version 1 is published" in editor.get(answer.location).text
    after = content(session, tenant)
    assert after["productName"] == "Northwind Voice"
    assert [(c["name"], c["value"]) for c in after["brandUIColors"]] == [("primary", "#1c7a4d")]
    assert [(x["label"], x["url"]) for x in after["customHeaderLinks"]] == [
        ("Help", "https://help.northwind.example/")
    ]
    assert after["showBrandingToggle"] is True
    page = browser.get(f"/p/{tenant.partner.slug}/sign-in").text
    assert "Sign in to Northwind Voice" in page
    sheet = sheet_for("#1c7a4d")
    assert sheet_of(page) == f"/brand/1c7a4d-{sheet.digest}.css"
    assert browser.get(sheet_of(page)).text == sheet.css


def test_the_page_where_customers_sign_in_opens_for_the_user_who_published_it(
    editor: Browser, tenant: Tenant
) -> None:
    editor.post(PAGE, FORM, page=PAGE)
    editor.post("/branding/publish", page=PAGE)
    pattern = r'<a class="btn[^"]*" href="([^"]+)" target="_blank" rel="noopener">Open sign-in page'
    pages = ("/branding?published=1", "/branding/surfaces")
    [published], [shows] = (re.findall(pattern, editor.get(page).text) for page in pages)
    assert published == shows == f"http://localhost/p/{tenant.partner.slug}/sign-in?show=1"
    assert "Sign in to Northwind Voice" in editor.get(shows.removeprefix("http://localhost")).text


def test_discarding_forgets_the_draft(editor: Browser, tenant: Tenant, session: Session) -> None:
    before = content(session, tenant)
    editor.post(PAGE, FORM, page=PAGE)
    editor.post("/branding/discard", page=PAGE)
    assert "Draft:" not in editor.get(PAGE).text
    assert content(session, tenant) == before


def test_publishing_without_a_draft_is_not_found(session: Session, editor: Browser) -> None:
    assert editor.post("/branding/publish", page=PAGE).status_code == 404
    assert session.scalars(select(BrandVersion)).all() == []


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("colour", "blurple", "colour"),
        ("product_name", " ", "product"),
        ("header_links-0-url", "javascript:alert(1)", "http"),
        ("header_links-0-label", "", "Header links"),
        ("demo_link", "ftp://x.example/", "http"),
    ],
)
def test_a_wrong_value_is_refused_at_its_field_and_nothing_is_saved(
    editor: Browser, field: str, value: str, words: str
) -> None:
    answer = editor.post(PAGE, {**FORM, field: value}, page=PAGE)
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text
    assert words in answer.text
    assert 'value="Northwind Voice"' in answer.text or field == "product_name"
    assert "Draft:" not in editor.get(PAGE).text


def test_the_page_and_the_json_give_the_same_message(editor: Browser) -> None:
    answer = editor.post(PAGE, {**FORM, "colour": "blurple"}, page=PAGE)
    problem = re.search(r'id="colour-error">.*?<span>(.*?)</span>', answer.text, re.DOTALL)
    assert problem
    with pytest.raises(ValidationFailed) as refusal:
        read(UpdatePartnerInput, {"brandUIColors": [{"name": "primary", "value": "blurple"}]})
    assert unescape(problem.group(1)) == refusal.value.problems[0].message


def test_a_logo_is_encoded_again_and_may_be_cached_forever(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    answer = editor.post("/branding/images/logo", {"picture": (picture(), "logo.png")}, page=PAGE)
    assert answer.status_code == 303
    editor.post("/branding/publish", page=PAGE)
    url = content(session, tenant)["logoImgUrl"]
    path = re.search(r"/brand/images/[0-9a-f]{64}$", url)
    assert path
    served = editor.get(path.group())
    assert (served.status_code, served.content_type) == (200, "image/png")
    assert served.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    with Image.open(io.BytesIO(served.data)) as shown:
        assert (shown.width, shown.height, shown.info) == (300, 60, {})
    assert f'src="{path.group()}"' in editor.get("/").text


def test_the_history_tells_the_dark_logo_from_the_logo(
    editor: Browser, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    for kind, width in (("logo", 280), ("dark-logo", 300)):
        file = {"picture": (picture(width, 60), "picture.png")}
        editor.post(f"/branding/images/{kind}", file, page=PAGE)
    history = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit?kind=brand_image").text
    uploaded = re.findall(r"Picture uploaded: (?:<a[^>]*>)?([A-Za-z ]+)", history)
    assert uploaded == ["Dark logo", "Logo"]


def test_each_picture_is_one_change_of_the_draft(editor: Browser) -> None:
    for count, kind in enumerate(("logo", "dark-logo", "favicon"), 1):
        file = {"picture": (picture(96, 96), "picture.png")}
        editor.post(f"/branding/images/{kind}", file, page=PAGE)
        assert f"Draft: {count} change" in editor.get(PAGE).text


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ((io.BytesIO(b"MZ\x90\x00 not a picture"), "logo.png"), "not a picture"),
        ((io.BytesIO(b"<svg xmlns='http://www.w3.org/2000/svg'>"), "logo.svg"), "not an SVG"),
        ((picture(20, 10), "logo.png"), "shorter side"),
        ((picture(4000, 60), "logo.png"), "12 times"),
        ((io.BytesIO(b""), "logo.png"), "Choose a picture"),
    ],
)
def test_a_file_that_is_no_logo_is_refused_with_the_reason(
    editor: Browser, file: tuple[io.BytesIO, str], words: str
) -> None:
    copy = io.BytesIO(file[0].getvalue())
    answer = editor.post("/branding/images/logo", {"picture": (copy, file[1])}, page=PAGE)
    assert answer.status_code == 422
    assert words in answer.text
    assert 'id="logo-error"' in answer.text
    assert '<a class="tab" href="/branding" aria-current="page">Studio</a>' in answer.text


def test_the_preview_is_the_real_sign_in_page_with_the_drafts_colour(
    editor: Browser, tenant: Tenant
) -> None:
    editor.post(PAGE, FORM, page=PAGE)
    preview = editor.get("/branding/preview/sign-in?theme=dark")
    assert "Sign in to Northwind Voice" in preview.text
    assert sheet_of(preview.text).startswith("/brand/1c7a4d-")
    assert 'data-bs-theme="dark"' in preview.text
    assert "frame-ancestors 'self'" in preview.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in editor.get(PAGE).headers["Content-Security-Policy"]


def test_the_review_shows_the_sign_in_page_before_and_after(editor: Browser) -> None:
    before = sheet_of(editor.get("/branding/preview/sign-in").text)
    editor.post(PAGE, FORM, page=PAGE)
    review = unescape(editor.get("/branding/review").text)
    previews = re.findall(r'<iframe src="(/branding/preview/sign-in\?[^"]+)"', review)
    now, after = (sheet_of(editor.get(address).text) for address in previews)
    assert (now, after.partition("-")[0]) == (before, "/brand/1c7a4d")


def test_the_preview_of_the_portal_is_at_the_overview(editor: Browser) -> None:
    page = editor.get("/branding/preview/portal").text
    assert re.findall(r'href="([^"]+)" aria-current="page"', page) == ["/"]


def test_typing_updates_the_preview(editor: Browser) -> None:
    token = re.search(r'name="csrf_token" value="([^"]+)"', editor.get(PAGE).text)
    assert token
    answer = editor.client.post(
        PAGE, data={**FORM, "csrf_token": token.group(1)}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 200
    assert answer.text.lstrip().startswith('<div id="studio-draft">')
    assert "/branding/preview/sign-in" in answer.text
    assert "data-all-saved" in answer.text  # the errors of the page go


def test_typing_a_text_of_another_language_turns_the_preview_to_it(editor: Browser) -> None:
    page = editor.get(PAGE).text
    token = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert token
    (sent,) = re.findall(r"""hx-vals='([^']*)'[^>]*>\s*<legend>Deutsch</legend>""", page)
    answer = editor.client.post(
        PAGE,
        data={**FORM, "csrf_token": token.group(1), "language": "en", **json.loads(sent)},
        headers={"HX-Request": "true"},
    )
    assert "language=de" in re.findall(r'<iframe src="([^"]+)"', answer.text)[0]


def test_a_colour_that_carries_no_white_text_offers_the_nearest_shade(editor: Browser) -> None:
    editor.post(PAGE, {**FORM, "colour": "#e4688a"}, page=PAGE)
    assert "Make #C54C70 the brand colour" in editor.get(PAGE).text
    editor.post("/branding/shade", {"shade": "#c54c70"}, page=PAGE)
    assert 'value="#c54c70"' in editor.get(PAGE).text


def test_the_name_of_a_shades_button_begins_with_its_words(editor: Browser) -> None:
    editor.post(PAGE, {**FORM, "colour": "#e4688a"}, page=PAGE)
    page = editor.get("/branding/contrast").text
    buttons = re.findall(r'name="shade"[^>]*aria-label="([^"]+)">([^<]+)<', page)
    assert buttons
    assert [name for name, shown in buttons if not name.startswith(shown)] == []


def test_a_stylesheet_is_served_only_under_its_own_hash(browser: Browser) -> None:
    sheet = sheet_for("#ffc800")
    served = browser.get(f"/brand/ffc800-{sheet.digest}.css")
    assert served.status_code == 200
    assert "--brand: #ffc800;" in served.text
    for path in (f"/brand/ffc801-{sheet.digest}.css", "/brand/ffc800-0.css", "/brand/zzzzzz-0.css"):
        assert browser.get(path).status_code == 404


def test_a_picture_of_another_host_is_shown_once_it_was_fetched(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    url = "https://cdn.northwind.example/logo.png"
    partners.update(
        session, OPERATOR, tenant.partner.id, read(UpdatePartnerInput, {"logoImgUrl": url})
    )
    session.commit()
    waiting = editor.get("/")
    assert url not in waiting.text
    assert 'class="logo-tile"' in waiting.text
    assert "img-src 'self' data:;" in waiting.headers["Content-Security-Policy"]
    fragment = "/branding/images"
    assert f'hx-get="{fragment}"' in editor.get(PAGE).text
    assert "It is being fetched." in editor.get(fragment).text

    whose = outside_pictures.begin(session, tenant.partner.id, ImageType.LOGO)
    assert whose
    encoded = images.encode(picture().getvalue(), ImageType.LOGO, "logo")
    outside_pictures.store_result(session, tenant.partner.id, whose, encoded)
    session.commit()
    path = f"/brand/images/{sha256(encoded.data).hexdigest()}"
    assert f'src="{path}"' in editor.get("/").text
    assert "hx-get" not in editor.get(fragment).text
    assert (editor.get(path).data, editor.get(path).content_type) == (encoded.data, "image/png")
    assert content(session, tenant)["logoImgUrl"] == url


def test_a_picture_that_was_not_fetched_says_why_and_can_be_tried_again(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    images_elsewhere = [{"type": "hero", "imageUrl": "https://cdn.northwind.example/h.jpg"}]
    partners.update(
        session,
        OPERATOR,
        tenant.partner.id,
        read(UpdatePartnerInput, {"siteImages": images_elsewhere}),
    )
    whose = outside_pictures.begin(session, tenant.partner.id, ImageType.HERO)
    assert whose
    problem = "cdn.northwind.example answered with status 404."
    outside_pictures.store_result(session, tenant.partner.id, whose, problem)
    session.commit()
    assert problem in editor.get(PAGE).text
    answer = editor.post("/branding/images/hero/retry", page=PAGE)
    assert (answer.status_code, answer.location) == (303, "/branding#hero-picture")
    assert problem not in editor.get(PAGE).text
    assert editor.post("/branding/images/logo/retry", page=PAGE).status_code == 404


def test_the_tagline_and_the_dark_logo_are_published_with_the_draft(
    editor: Browser, browser: Browser, tenant: Tenant
) -> None:
    page = f"/p/{tenant.partner.slug}/sign-in"
    assert "Every call answered, even the ones after hours." in browser.get(page).text
    editor.post(PAGE, {**FORM, "tagline": "We pick up."}, page=PAGE)
    editor.post("/branding/images/logo", {"picture": (picture(), "logo.png")}, page=PAGE)
    dark = picture(280, 60)
    editor.post("/branding/images/dark-logo", {"picture": (dark, "dark.png")}, page=PAGE)
    assert "We pick up." in editor.get("/branding/preview/sign-in").text
    assert "We pick up." not in browser.get(page).text
    editor.post("/branding/publish", page=PAGE)
    shown = browser.get(page).text
    assert re.search(r'<p class="sign-in-sentence">We pick up.</p>', shown)
    logos = re.findall(r'<img class="(logo-[a-z]+)" src="/brand/images/[0-9a-f]{64}"', shown)
    assert logos == ["logo-light", "logo-dark"]


def test_the_texts_of_a_brand_are_in_the_language_of_their_reader(
    editor: Browser, browser: Browser, tenant: Tenant, session: Session
) -> None:
    texts = {
        "tagline": "We pick up.",
        "texts_by_language-1-tagline": "Wir heben ab.",
        "texts_by_language-1-mail_greeting": "Guten Tag von Northwind!",
        "texts_by_language-1-upgrade_message": "Plus hat Platz.",
    }
    rows = {f"texts_by_language-{n}-{name}": "" for n in range(4) for name in ("tagline",)}
    editor.post(PAGE, {**FORM, **rows, **texts}, page=PAGE)
    editor.post("/branding/publish", page=PAGE)
    page = f"/p/{tenant.partner.slug}/sign-in"
    seen = [
        re.findall(
            r'<p class="sign-in-sentence">(.*?)</p>', browser.get(page, headers=headers).text
        )
        for headers in ({}, {"Accept-Language": "de"}, {"Accept-Language": "fr"})
    ]
    assert seen == [["We pick up."], ["Wir heben ab."], ["We pick up."]]
    session.expire_all()
    with using_language("de"):
        assert of_partner(tenant.partner).spoken_upgrade_message == "Plus hat Platz."
        mail = mails.sample(of_partner(tenant.partner), "http://localhost")
    assert "Guten Tag von Northwind!" in mail.text
    assert "Guten Tag von Northwind!" in mail.html
    assert "Guten Tag" not in mails.sample(of_partner(tenant.partner), "http://localhost").text


def test_each_text_of_a_language_names_it(editor: Browser) -> None:
    labels = re.findall(r'for="texts_by_language-\d-\w+">([^<]*) <', editor.get(PAGE).text)
    assert labels[2:4] == ["Tagline in German", "Greeting in German"]
    assert labels[9] == "Message at a limit in German"
    assert len(set(labels)) == 12


def test_readability_offers_a_shade_beside_the_columns_and_where_they_have_no_room(
    editor: Browser,
) -> None:
    editor.post(PAGE, {**FORM, "colour": "teal"}, page=PAGE)
    page = editor.get("/branding/contrast").text
    row = page.partition("Link on the page")[2].partition("</tr>")[0]
    buttons = re.findall(r'form="shade-form" name="shade" value="(#\w+)"', row)
    assert (len(buttons), len(set(buttons)), page.count('id="shade-form"')) == (2, 1, 1)
    assert "Needed 4.5 : 1" in row.replace("\N{NO-BREAK SPACE}", " ")
    answer = editor.post("/branding/shade", {"shade": buttons[0]}, page="/branding/contrast")
    assert answer.status_code == 303


def test_a_text_that_is_too_long_in_one_language_is_named(editor: Browser) -> None:
    rows = {f"texts_by_language-{n}-tagline": "" for n in range(4)}
    answer = editor.post(
        PAGE, {**FORM, **rows, "texts_by_language-2-tagline": "x" * 201}, page=PAGE
    )
    assert answer.status_code == 422
    assert 'href="#texts_by_language-2-tagline"' in answer.text


def test_the_api_documentation_is_in_the_brand_of_its_reader(
    editor: Browser, browser: Browser, tenant: Tenant
) -> None:
    editor.post(PAGE, FORM, page=PAGE)
    editor.post("/branding/publish", page=PAGE)
    browser.get(f"/p/{tenant.partner.slug}/sign-in")
    for reader in (editor, browser):
        docs = reader.get("/api/docs")
        assert "<title>API documentation · Northwind Voice</title>" in docs.text
        assert sheet_of(docs.text).startswith("/brand/1c7a4d-")
        assert '<span class="logo-name">Northwind</span>' in docs.text
        assert docs.headers["Cache-Control"] == "private, no-cache"


def test_the_api_documentation_is_in_english_but_for_the_sentence_that_says_so(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.staff[Role.PARTNER_EDITOR].language = "es"
    session.commit()
    docs = editor.get("/api/docs").text
    assert '<p class="second" lang="es">' in docs
    assert ">Copy</span>" in docs


def test_rolling_back_brings_back_a_brand_without_a_tagline(editor: Browser) -> None:
    editor.post(PAGE, FORM, page=PAGE)
    editor.post("/branding/publish", page=PAGE)
    editor.post(PAGE, {**FORM, "tagline": "We pick up."}, page=PAGE)
    editor.post("/branding/publish", page=PAGE)
    editor.post("/branding/history/1/roll-back", page="/branding/history/1/roll-back")
    page = editor.get(PAGE).text
    assert FORM["product_name"] in page
    assert "We pick up." not in page


def test_an_svg_logo_is_drawn_and_stored_as_png(editor: Browser) -> None:
    svg = (
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 10">'
        b'<rect width="40" height="10" fill="#1c7a4d"/></svg>'
    )
    file = (io.BytesIO(svg), "logo.svg")
    assert editor.post("/branding/images/logo", {"picture": file}, page=PAGE).status_code == 303
    path = re.search(r"/brand/images/[0-9a-f]{64}", editor.get(PAGE).text)
    assert path
    with Image.open(io.BytesIO(editor.get(path.group()).data)) as shown:
        assert (shown.format, shown.size) == ("PNG", (1120, 280))


def test_a_colour_that_a_refused_form_keeps_is_in_contrasts_and_preview(editor: Browser) -> None:
    editor.post(PAGE, FORM | {"colour": "#7a2d6b"}, page=PAGE)
    page = editor.post(PAGE, FORM | {"colour": "#0f766e", "demo_link": "nowhere"}, page=PAGE).text
    assert 'value="#0f766e"' in page
    preview = re.search(r'<iframe src="([^"]*)"', page)
    assert preview
    shown = sheet_of(editor.get(unescape(preview.group(1))).text)
    assert shown.startswith("/brand/0f766e-")
    fine = editor.post(PAGE, FORM | {"colour": "#0f766e"}, page=PAGE)
    report = re.compile(r'id="studio-report".*?</table>', re.DOTALL)
    assert report.findall(page) == report.findall(editor.get(str(fine.location)).text)


def test_an_invalid_colour_is_reported_while_typing(editor: Browser) -> None:
    answer = editor.post(PAGE, {**FORM, "colour": "#1c7a4"}, page=PAGE)
    assert answer.status_code == 422
    contrasts = '<th scope="col" class="end">Contrast</th>'  # of a colour that is none
    assert contrasts in editor.get(PAGE).text
    assert contrasts not in answer.text
    token = re.search(r'name="csrf_token" value="([^"]+)"', editor.get(PAGE).text)
    assert token
    typed = editor.client.post(
        PAGE,
        data={**FORM, "colour": "#1c7a4", "csrf_token": token.group(1)},
        headers={"HX-Request": "true"},
    )
    assert (typed.status_code, typed.headers["HX-Reswap"]) == (200, "none")
    assert re.search(r'id="colour-live" hx-swap-oob="innerHTML">.*colour', typed.text, re.DOTALL)
    assert "Not saved. Fix the marked fields first." in typed.text
    assert "data-all-saved" not in typed.text
    assert "No changes." not in answer.text


def test_problems_of_the_studio_are_listed_in_the_order_of_its_fields(editor: Browser) -> None:
    sent = {**FORM, "colour": "blurple", "product_name": "", "demo_link": "ftp://x.example/"}
    page = editor.post(PAGE, sent, page=PAGE).text
    summary = page.partition('class="error-summary"')[2].partition("</div>")[0]
    named = re.findall(r'href="#([^"]+)"', summary)
    assert named == ["colour", "product_name", "demo_link"]
    assert [page.index(f'id="{field}"') for field in named] == sorted(
        page.index(f'id="{field}"') for field in named
    )


def test_colours_of_the_chat_follow_the_brand_colour_while_it_is_typed(editor: Browser) -> None:
    token = re.search(r'name="csrf_token" value="([^"]+)"', editor.get(PAGE).text)
    assert token
    typed = editor.client.post(
        PAGE,
        data={**FORM, "csrf_token": token.group(1)},
        headers={"HX-Request": "true"},
    ).text
    live = typed.partition('id="chat_header-live"')[2].partition("</div>")[0]
    shown = re.search(r'data-shown="([^"]+)"', live)
    assert shown
    header = editor.get(PAGE).text.partition('id="chat_header"')[2].partition(">")[0]
    assert f'placeholder="{shown[1]}"' in header
    assert shown[1] == "#1c7a4d"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("surface", ["sign-in", "portal", "mail", "chat", "error"])
def test_every_surface_can_be_seen_as_the_draft_would_show_it(
    editor: Browser, surface: str, theme: str
) -> None:
    editor.post(PAGE, FORM, page=PAGE)
    preview = editor.get(f"/branding/preview/{surface}?theme={theme}")
    assert preview.status_code == 200
    assert "Northwind Voice" in preview.text
    assert "#1c7a4d" in preview.text or "/brand/1c7a4d-" in preview.text
    assert "frame-ancestors 'self'" in preview.headers["Content-Security-Policy"]


def test_a_mail_is_shown_in_the_theme_that_was_asked_for(editor: Browser) -> None:
    light, dark = (
        editor.get(f"/branding/preview/mail?theme={theme}").text for theme in ("light", "dark")
    )
    assert "@media not all" in light
    assert "@media all" not in light
    assert "@media all" in dark
    assert "@media not all" not in dark


def test_the_preview_of_a_mail_has_a_sample_link_that_is_valid_for_a_week(
    editor: Browser, tenant: Tenant
) -> None:
    html = editor.get("/branding/preview/mail").text
    link = f"http://localhost/p/{tenant.partner.slug}/invitation/sample"
    assert set(re.findall(r'<a [^>]*href="([^"#]*invitation[^"]*|#)"', html)) == {link}
    days = [utcnow() + timedelta(days=7, minutes=-past) for past in (0, 1)]
    ends = [f"{end.day} {end:%B %Y}, {end:%H:%M} UTC" for end in days]
    words = html.replace("&nbsp;", " ")
    assert any(f"The link works once, until {end}." in words for end in ends)


def test_surfaces_that_are_complete_say_what_they_show(
    editor: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.domain_verified_at = utcnow()
    session.commit()
    page = editor.get("/branding/surfaces").text
    answer_text = dict(
        re.findall(r'list-row-title">([^<]+)</span>\s*<span class="list-row-text">([^<]+)<', page)
    )
    assert (answer_text["Chat bubble"], answer_text["Portal domain"]) == (
        "Switched off.",
        f"{tenant.partner.domain}, verified.",
    )


def test_the_requirements_of_a_picture_are_shown_beforehand(editor: Browser) -> None:
    page = editor.get(PAGE).text.replace("\N{NO-BREAK SPACE}", " ")
    for words in (
        "28 px or more, up to 12 times as wide as high.",
        "Square, 32 px or more.",
        "400 px or more, up to 4 times as wide as high.",
    ):
        assert words in page


def test_an_uploaded_picture_is_described(editor: Browser) -> None:
    editor.post("/branding/images/logo", {"picture": (picture(), "logo.png")}, page=PAGE)
    assert re.search(r"PNG, 300 × 60 px, [\d.]+\xa0k?B", editor.get(PAGE).text)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_draft_is_published_from_a_page_with_its_changes(editor: Browser) -> None:
    editor.post(PAGE, FORM, page=PAGE)
    editor.post("/branding/images/logo", {"picture": (picture(), "logo.png")}, page=PAGE)
    review = editor.get("/branding/review").text
    rows = re.findall(
        r'<th scope="row">(.*?)</th>\s*<td.*?>(.*?)</td>\s*<td.*?>(.*?)</td>', review, re.DOTALL
    )
    assert [unescape(row[0]) for row in rows] == [
        "Colours",
        "Header links",
        "Logo",
        "Product name",
        "“Powered by” on customers’ pages",
    ]
    assert review.count('data-label="Your customers see"') == len(rows)
    assert review.count('data-label="Version 1"') == len(rows)
    changes = {name: (old, new) for name, old, new in rows}
    assert 'fill="#1c7a4d"' in changes["Colours"][1]
    assert '<img class="value-picture picture-logo" src="/brand/images/' in changes["Logo"][1]
    assert [re.sub("<.*?>", "", value).strip() for value in changes["Product name"]] == [
        "AI Receptionist",
        "Northwind Voice",
    ]
    answer = editor.post("/branding/publish", page="/branding/review")
    assert (answer.status_code, answer.location) == (303, "/branding?published=1")
    assert "Nothing is left to publish." in editor.get("/branding/review").text


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_preview_shows_one_page_that_saving_keeps(editor: Browser) -> None:
    shown = re.findall(r'src="(/branding/preview/[a-z-]+)\?', editor.get(f"{PAGE}?page=mail").text)
    assert shown == ["/branding/preview/mail"]
    answer = editor.post(PAGE, FORM | {"page": "mail", "theme": "dark"}, page=PAGE)
    assert answer.location == "/branding?saved=1&page=mail&theme=dark"


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_preview_shows_the_texts_of_each_language(editor: Browser) -> None:
    texts = {
        f"texts_by_language-{index}-{name}": f"{name} {code}"
        for index, code in enumerate(LANGUAGES)
        for name in ("tagline", "mail_greeting")
    }
    assert editor.post(PAGE, FORM | texts, page=PAGE).status_code == 303
    for code in LANGUAGES:
        page = editor.get(f"{PAGE}?page=mail&theme=dark&language={code}").text
        assert f"/branding/preview/mail?theme=dark&amp;language={code}&amp;" in page
        sign_in = editor.get(f"/branding/preview/sign-in?language={code}").text
        mail = editor.get(f"/branding/preview/mail?language={code}").text
        assert f'<html lang="{code}"' in sign_in
        assert f"tagline {code}" in sign_in
        assert f"mail_greeting {code}" in mail
    own = editor.get("/branding/preview/sign-in?language=xx").text
    assert '<html lang="en"' in own


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_picture_over_the_limit_of_a_request_is_refused_at_its_field(editor: Browser) -> None:
    data = io.BytesIO(bytes(images.MAX_BYTES + 100_000))
    answer = editor.post("/branding/images/logo", {"picture": (data, "logo.png")}, page=PAGE)
    assert (answer.status_code, answer.location) == (303, "/branding?too_large=logo#logo-picture")
    page = editor.get("/branding?too_large=logo").text
    assert page.count("The picture is over 20 MB. Save it smaller and upload it again.") == 2
    assert 'aria-describedby="logo-hint logo-error" aria-invalid="true"' in page


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_refused_picture_stays_on_the_tab_of_the_studio(editor: Browser) -> None:
    broken = {"picture": (io.BytesIO(b"no picture"), "logo.png")}
    answer = editor.post("/branding/images/logo", broken, page=PAGE)
    assert answer.status_code == 422
    assert re.search(r'aria-current="page"[^>]*>Studio<', answer.text)
    assert 'aria-describedby="logo-hint logo-error" aria-invalid="true"' in answer.text
