"""The budget of an organization and of the portal on their pages."""

from collections.abc import Callable
from html import unescape

import pytest

from app.enums import Role
from app.models import User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser


@pytest.mark.parametrize("place", ["/organizations/{}/", "/settings/spending/"])
def test_a_budget_is_set_changed_and_removed(
    signed_in: Callable[[User], Browser], tenant: Tenant, place: str
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    form = place.format(tenant.plus.id) + "budget"
    shown = f"/organizations/{tenant.plus.id}/spending" if "org" in place else "/settings/spending"
    assert "Set a budget" in admin.get(shown).text
    page = unescape(admin.get(form).text)
    whose = tenant.plus.name if "org" in place else "your portal"
    assert f"<h1>Budget of {whose}</h1>" in page
    assert "Spent this month: $0.00." in page
    answer = admin.post(form, {"budget": "250.00", "version": "0"}, page=form)
    assert (answer.status_code, answer.location) == (303, shown)
    page = unescape(admin.get(shown).text)
    assert "$0.00 of $250.00" in page
    assert admin.post(form, {"budget": "0", "version": "1"}, page=form).status_code == 422
    assert admin.post(form, {"budget": "", "version": "1"}, page=form).status_code == 303
    assert "Set a budget" in admin.get(shown).text


@pytest.mark.parametrize(
    ("language", "typed", "filled", "words", "example"),
    [
        ("en", "1,500.50", "1500.50", "$0.00 of $1,500.50", "12.50"),
        ("de", "1.500,50", "1500,50", "0,00 $ von 1.500,50 $", "12,50"),
        ("de", "1500.50", "1500,50", "0,00 $ von 1.500,50 $", "12,50"),
        ("es", "1.500,50", "1500,50", "0,00 $ de 1.500,50 $", "12,50"),
        ("fr", "1 500,50", "1500,50", "0,00 $ sur 1 500,50 $", "12,50"),
    ],
)
def test_a_budget_is_read_filled_in_and_refused_in_the_language_of_its_reader(
    signed_in: Callable[[User], Browser],
    tenant: Tenant,
    language: str,
    typed: str,
    filled: str,
    words: str,
    example: str,
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    form, head = "/settings/spending/budget", {"Accept-Language": language}
    saved = admin.post(form, {"budget": typed, "version": "0"}, page=form, headers=head)
    assert saved.status_code == 303
    assert f'value="{filled}"' in admin.get(form, headers=head).text
    page = unescape(admin.get("/settings/spending", headers=head).text)
    assert words in page.replace("\N{NO-BREAK SPACE}", " ").replace(
        "\N{NARROW NO-BREAK SPACE}", " "
    )
    refused = admin.post(form, {"budget": "a lot", "version": "1"}, page=form, headers=head)
    error = refused.text.partition('id="budget-error"')[2].partition("</p>")[0]
    assert refused.status_code == 422
    assert example in error


def test_alert_levels_and_recipients_are_set_with_the_budget(
    signed_in: Callable[[User], Browser], tenant: Tenant
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    form = f"/organizations/{tenant.plus.id}/budget"
    assert 'value="50, 80, 100"' in admin.get(form).text
    typed = {
        "budget": "250",
        "levels": "90 %; 110",
        "recipients": "books@acme.example, b@x.io",
    }
    assert admin.post(form, typed | {"version": "0"}, page=form).status_code == 303
    page = admin.get(form).text
    assert 'value="90, 110"' in page
    assert "\nbooks@acme.example\nb@x.io</textarea>" in page.replace("\r", "")
    for wrong, words in (
        ({"levels": "half"}, "Enter percentages like 50, 80, 100."),
        ({"levels": "9" * 5000}, "Enter percentages like 50, 80, 100."),
        ({"levels": "300"}, "Enter 1 to 5 percentages from 1 to 200, like 50, 80, 100."),
        ({"recipients": "nobody"}, "“nobody” isn’t an email address."),
        ({"budget": "x", "levels": "half", "recipients": "nobody"}, "3 things need changing"),
        ({"budget": "0", "levels": "half", "recipients": "nobody"}, "3 things need changing"),
    ):
        refused = admin.post(form, typed | {"version": "1"} | wrong, page=form)
        assert refused.status_code == 422
        assert words in unescape(refused.text)
    history = unescape(admin.get("/audit").text)
    assert "Alert levels" in history
    assert "Recipients" in history
