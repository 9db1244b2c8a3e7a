"""The page that is the response to a form names the URL of the form, for the browser's history."""

import re
from collections.abc import Callable
from html import unescape
from uuid import uuid4

import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import Role
from app.models import PortalSession, User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


def addresses(page: TestResponse) -> list[str]:
    found = re.findall(r' data-address="([^"]*)"', page.text.partition(">\n<head>")[0])
    return [unescape(address) for address in found]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_address_of_a_refused_form_can_be_opened_again(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    form = f"/carriers/accounts/account?organization={tenant.organization.id}"
    answers = [
        admin.get(form),
        admin.post(form, {"sid": "none"}, page=form),
        admin.post(f"/users/{tenant.user.id}/resend-to-nobody", page="/account"),
        admin.post(f"/users/{tenant.user.id}/resend", page="/account"),
        admin.post(f"/users/{uuid4()}/suspend", {}, page="/account"),
    ]
    assert [addresses(page) for page in answers] == [[], [form], [], [], []]
    session.execute(delete(PortalSession))
    session.commit()
    ours = {"Sec-Fetch-Site": "same-origin"}
    ended = admin.client.post(form, data={"sid": "none"}, headers=ours)
    assert (ended.status_code, addresses(ended)) == (401, [form])
