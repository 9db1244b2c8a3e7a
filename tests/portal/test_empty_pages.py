"""The portal of a partner that has just begun: each page without contents leads on."""

import re
from collections.abc import Callable

from sqlalchemy.orm import Session

from app.enums import Role
from app.models import User
from tests.fixtures.cast import make_partner, make_user
from tests.portal.conftest import Browser

LEADS_TO = {
    "/organizations": "/organizations/new",
    "/do-not-call": "/organizations/new",
    "/assistants/new": "/organizations/new",
    "/campaigns/new": "/organizations/new",
    "/test-call": "/assistants/new",
}


def led_to(browser: Browser, path: str) -> list[str]:
    """Where the buttons of the page's empty state lead."""
    [state] = re.findall(r'<div class="empty-state">.*?</div>', browser.get(path).text, re.DOTALL)
    return re.findall(r'<a class="btn[^"]*" href="([^"]+)"', state)


def test_what_needs_an_organization_leads_to_the_making_of_one(
    session: Session, signed_in: Callable[[User], Browser]
) -> None:
    partner = make_partner(session, "Begun")
    admin = make_user(session, partner.id, "first@begun.example", Role.PARTNER_ADMIN)
    editor = make_user(session, partner.id, "second@begun.example", Role.PARTNER_EDITOR)
    session.commit()
    browser = signed_in(admin)
    assert {path: led_to(browser, path) for path in LEADS_TO} == {
        path: [address] for path, address in LEADS_TO.items()
    }
    primary = {path: browser.get(path).text.count("btn-primary") for path in (*LEADS_TO, "/calls")}
    assert set(primary.values()) == {1}
    browser = signed_in(editor)
    readable = ("/organizations", "/do-not-call", "/campaigns/new", "/test-call")
    assert [led_to(browser, path) for path in readable] == [[]] * len(readable)
