"""No page that is only opened changes anything."""

import re
from collections import deque
from collections.abc import Callable
from html import unescape

import pytest

from app.database import Database
from app.enums import Role
from app.models import User
from tests.e2e.crawl import kind_of
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, user_of

WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
LINK = re.compile(r'(?:href|src|hx-get)="(/[^"#]*)')


def walked(browser: Browser) -> list[str]:
    """The paths of one page of every kind that links, frames and fragments lead to."""
    waiting, kinds, opened = deque(["/"]), {"/"}, []
    while waiting:
        path = waiting.popleft()
        answer = browser.get(path)
        opened.append(path)
        if answer.mimetype != "text/html":
            continue
        for found in LINK.findall(answer.text):
            link = unescape(found)
            if kind_of(link) not in kinds and not link.startswith("/static/"):
                kinds.add(kind_of(link))
                waiting.append(link)
    return opened


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.STANDARD])
def test_opening_every_page_sends_no_statement_that_writes(
    tenant: Tenant, signed_in: Callable[[User], Browser], database: Database, role: Role
) -> None:
    browser = signed_in(user_of(tenant, role))
    with counted(database.engine) as statements:
        opened = walked(browser)
    assert [each for each in statements if WRITES.match(each)] == []
    assert len(opened) > 10
