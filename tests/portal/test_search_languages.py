"""Search finds pages and actions by their words in the user's language and by the English ones."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from sqlalchemy.orm import Session

from app import languages
from app.enums import Role
from app.models import User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


def in_german(message: str) -> str:
    with languages.using_language("de"):
        words = languages.gettext(message)
    assert words != message
    return words


@pytest.fixture
def german_browser(session: Session, tenant: Tenant, signed_in: SignedIn) -> Browser:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.language = "de"
    session.commit()
    return signed_in(admin)


def titles_for(browser: Browser, words: str) -> list[str]:
    page = browser.get("/search", query_string={"q": words}).text
    return [
        unescape(re.sub("</?mark>", "", title))
        for title in re.findall(r'class="list-row-title" href="[^"]*">(.*?)</a>', page)
    ]


@pytest.mark.parametrize(
    ("place", "further"),
    [
        ("Campaigns", None),
        ("Create campaign", None),
        ("Storage", "space"),
        ("Your account", "profile"),
    ],
    ids=["an entry of the sidebar", "an action", "a page", "a further word"],
)
def test_a_place_is_found_in_both_languages(
    german_browser: Browser, place: str, further: str | None
) -> None:
    shown = in_german(place)
    assert shown in titles_for(german_browser, place)
    assert shown in titles_for(german_browser, shown)
    if further is not None:
        assert shown in titles_for(german_browser, further)


def test_english_users_find_no_german_words(tenant: Tenant, signed_in: SignedIn) -> None:
    english = signed_in(tenant.staff[Role.ADMIN])
    assert titles_for(english, in_german("Campaigns")) == []
    assert "Campaigns" in titles_for(english, "Campaigns")
