"""The budget of an organization and of the portal on their pages."""

from collections.abc import Callable
from html import unescape

import pytest

from app.enums import Role
from app.models import User
from tests.fixtures.cast import Tenant
from tests.portal.conftest import Browser


@pytest.mark.parametrize("place", ["/organizations/{}/", "/settings/spending/"])
def test_a_budget_is_set_changed_and_removed(
    signed_in: Callable[[User], Browser], own: Tenant, place: str
) -> None:
    admin = signed_in(own.staff[Role.PARTNER_ADMIN])
    form = place.format(own.plus.id) + "budget"
    shown = f"/organizations/{own.plus.id}/spending" if "org" in place else "/settings/spending"
    assert "Set a budget" in admin.get(shown).text
    answer = admin.post(form, {"budget": "250.00", "version": "0"}, page=form)
    assert (answer.status_code, answer.location) == (303, shown)
    page = unescape(admin.get(shown).text)
    assert "$0.00 of $250.00" in page
    assert admin.post(form, {"budget": "0", "version": "1"}, page=form).status_code == 422
    assert admin.post(form, {"budget": "", "version": "1"}, page=form).status_code == 303
    assert "Set a budget" in admin.get(shown).text
