"""Figures of pages: each opens the list of what it counts, with as many rows."""

import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, EndedReason
from app.models import utcnow
from tests.fixtures.tenants import Tenant, make_user, organization_of
from tests.portal.conftest import Browser
from tests.portal.test_calls import answered, make_call

FIGURE = re.compile(
    r'<a href="(/(?:(?:calls|organizations|report|users)\?[^"]*'
    r"|organizations/[^/\"]+/(?:users|assistants)))\"[^>]*>\s*(\d+)\s*</a>"
)
NAME = re.compile(r'<a class="name" href="/(?:calls|organizations|users|assistants)/')


@pytest.fixture
def stored_figures(session: Session, tenant: Tenant) -> None:
    """Calls of today and of the days before, and organizations of several plans and statuses."""
    now = utcnow()
    for days, organization in (
        (0, tenant.plus),
        (0, tenant.organization),
        (1, tenant.plus),
        (40, tenant.plus),
    ):
        at = now - timedelta(days=days)
        for number, by in enumerate((*[AnsweredBy.HUMAN] * 3, *[AnsweredBy.VOICEMAIL] * 2)):
            make_call(session, organization, f"+1202555010{number}", at, **answered(by, at))
    for status, reason in (
        *[(CallStatus.FAILED, EndedReason.CARRIER_ERROR)] * 3,
        *[(CallStatus.FAILED, EndedReason.REJECTED)] * 2,
        (CallStatus.NO_ANSWER, EndedReason.NO_ANSWER),
    ):
        for hours in (1, 25):
            at = now - timedelta(hours=hours)
            make_call(session, tenant.plus, "+12025550101", at, status=status, ended_reason=reason)
    for number in range(3):
        made = make_user(
            session, tenant.partner.id, f"u{number}@x.example", businessName=f"B{number}"
        )
        organization_of(session, made).payment_tier = None
    session.commit()


@pytest.mark.parametrize(
    ("page", "fewest"),
    [
        ("/", 6),
        ("/usage", 9),
        ("/report", 5),
        ("/organizations", 6),
        ("/organizations/{plus}", 3),
        ("/organizations/{plus}/usage", 6),
        ("/carriers", 2),
    ],
)
def test_each_figure_opens_as_many_rows_as_it_counts(
    stored_figures: None, tenant: Tenant, admin: Browser, page: str, fewest: int
) -> None:
    shown = admin.get(page.format(plus=tenant.plus.id)).text
    found = [(unescape(url), int(count)) for url, count in FIGURE.findall(shown)]
    assert len(found) >= fewest
    assert [(url, len(NAME.findall(admin.get(url).text))) for url, _ in found] == found
