"""Lists are filtered by what their columns show."""

import re
from collections.abc import Callable
from datetime import time
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.enums import ContactAction, Role
from app.models import Outreach, User
from app.services import assistants, campaigns, do_not_call, webhooks
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.test_overview import make_upload

SignedIn = Callable[[User], Browser]
NAME = re.compile(r'<(?:a|span) class="name"[^>]*>(.*?)</')


@pytest.fixture
def admin(app: Flask, session: Session, tenant: Tenant, signed_in: SignedIn) -> Browser:
    """Two records of each kind, which differ in what is filtered."""
    caller, organization = tenant.caller(Role.PARTNER_ADMIN), tenant.organization
    organization.assistant_limit, session.info["own"] = 0, tenant
    for name, service in (("Robin", "Reception"), ("Ivy", "Surveys 100%")):
        made = assistants.add_assistant(session, caller, organization, name=name)
        made.service = service
        campaign = campaigns.create(session, caller, organization.id, name=f"Calls of {name}")
        session.add(
            Outreach(
                campaign_id=campaign.id,
                organization_id=organization.id,
                assistant_id=made.id,
                weekdays="12345",
                hours_start=time(9),
                hours_end=time(17),
            )
        )
    make_upload(session, organization, file_name="one.csv", author="Ada Byron")
    make_upload(session, organization, file_name="two.csv", action=ContactAction.REMOVE)
    for number, source in (("+12025550001", "file"), ("+12025550002", "portal")):
        do_not_call.add(session, caller, organization.id, number, source=source)
    for host in ("crm", "sheets"):
        webhooks.add(
            session,
            caller,
            app.extensions["settings"],
            organization_id=organization.id,
            url=f"https://{host}.example/hook",
            events=["call.completed"],
        )
    session.commit()
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("/campaigns?assistant=ivy", ["Calls of Ivy"]),
        ("/campaigns?assistant=nobody", []),
        ("/uploads?action=remove", ["two.csv"]),
        ("/uploads?author=ada", ["one.csv"]),
        ("/api-access/webhooks?q=SHEETS", ["https://sheets.example/hook"]),
        ("/organizations/{}/do-not-call?source=file", ["+1\xa0202\xa0555\xa00001"]),
        ("/assistants?service=100%", ["Ivy"]),
        ("/assistants?service=surv&q=robin", []),
    ],
)
def test_every_list_is_filtered_by_its_columns(
    admin: Browser, tenant: Tenant, query: str, names: list[str]
) -> None:
    page = admin.get(query.format(tenant.organization.id)).text
    assert [each.replace("<wbr>", "") for each in NAME.findall(page)] == names
    field = query.partition("?")[2].partition("=")[0]
    assert f'name="{field}"' in page


def test_a_filter_of_the_panel_is_named_above_the_list_with_a_link_that_removes_it(
    admin: Browser, tenant: Tenant
) -> None:
    address = (
        f"/calls?state=failed&organization={tenant.organization.id}&within=yesterday&sort=number"
    )
    page = admin.get(address).text
    chips = re.findall(r'<a class="chip" href="([^"]*)" aria-label="Remove filter: ([^"]*)"', page)
    assert [unescape(words) for _url, words in chips] == [
        f"Organization: {tenant.organization.name}",
        "Time: Yesterday",
    ]
    assert [sorted(parse_qsl(urlsplit(unescape(url)).query)) for url, _words in chips] == [
        [("sort", "number"), ("state", "failed"), ("within", "yesterday")],
        [("organization", str(tenant.organization.id)), ("sort", "number"), ("state", "failed")],
    ]
    assert 'class="chip"' not in admin.get("/calls?state=failed").text


def test_both_ends_of_a_period_are_one_filter_above_the_list(admin: Browser) -> None:
    page = admin.get("/calls?start=2026-11-01&end=2026-11-30&answered=voicemail&live=yes").text
    chips = re.findall(r'<a class="chip" href="([^"]*)" aria-label="Remove filter: ([^"]*)"', page)
    assert [unescape(words).replace("\xa0", " ") for _url, words in chips] == [
        "1–30 Nov 2026",
        "Answered by voicemail",
        "Live or test: Live",
    ]
    query = dict(parse_qsl(urlsplit(unescape(chips[0][0])).query))
    assert query == {"answered": "voicemail", "live": "yes"}
    one = admin.get("/calls?start=2026-11-01").text
    assert "Remove filter: From 1 Nov 2026" in one.replace("\xa0", " ")
