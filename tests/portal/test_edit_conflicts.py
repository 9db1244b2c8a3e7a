"""Edit forms: all errors are shown at once, and with two people at the same form a corrected error
never overwrites what was saved meanwhile."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse
from wtforms import Form

from app.enums import AlertMeasure, AlertScope, ContactAction, Role
from app.models import Contact, User
from app.portal.web.forms import ActionForm, PortalForm
from app.services import (
    alerts,
    assistants,
    campaigns,
    contacts,
    organization_groups,
    organization_templates,
    saved_views,
)
from app.services.alerts import RuleInput
from app.services.credentials import api_keys
from app.services.identity_providers import providers
from app.services.identity_providers.providers import ProviderFields
from app.services.organization_groups import GroupInput
from app.services.saved_views import ViewInput
from app.services.scim import groups as scim_groups
from app.services.users import operators
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import PASSWORD_HASH, Browser, in_conflict
from tests.portal.test_templates import SOURCES
from tests.portal.test_webhooks import make as make_webhook

SignedIn = Callable[[User], Browser]
Fields = dict[str, str]


class PageForm(HTMLParser):
    """The form of a page that carries a version, filled in as a browser shows it."""

    def __init__(self, page: str, path: str):
        super().__init__()
        self._path = path
        self._found: list[tuple[str, str, dict[str, list[str]]]] = []
        self._inside = False
        self._select: str | None = None
        self._text: str | None = None
        self.feed(page)
        forms = [form for form in self._found if "version" in form[2]]
        assert len(forms) == 1, f"{path} has {len(forms)} forms with a version"
        self.method, self.action, self.fields = forms[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            action = given.get("action") or self._path
            self._found.append((given.get("method", "get"), action, {}))
            self._inside = True
        if not self._inside:
            return
        name = given.get("name", "")
        if tag == "input" and name:
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self._add(name, given.get("value", ""))
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select is not None:
            first = self._select not in self._fields
            if first or "selected" in given:
                self._fields[self._select] = [given.get("value", "")]
        elif tag == "textarea":
            self._text = name
            self._add(name, "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        elif tag == "select":
            self._select = None
        elif tag == "textarea" and self._text is not None:
            written = self._fields[self._text][-1]  # browsers drop the first line break
            self._fields[self._text][-1] = re.sub(r"^\r?\n", "", written)
            self._text = None

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            # As browsers do, and WTForms relies on it: one line break at the beginning isn't text.
            first = "" if self._fields[self._text][-1] else "\r\n"
            self._fields[self._text][-1] += data.removeprefix(first)

    @property
    def _fields(self) -> dict[str, list[str]]:
        return self._found[-1][2]

    def _add(self, name: str, value: str) -> None:
        self._fields.setdefault(name, []).append(value)


@dataclass(frozen=True)
class EditForm:
    """An edit form and three fillings: a colleague's, one with an error, and its correction."""

    templates: tuple[str, ...]
    path: str
    theirs: Fields
    wrong: Fields
    corrected: Fields
    secrets: Fields = field(default_factory=dict)
    """Typed each time: no page shows them again."""
    is_version_first: bool = False
    """Whether the conflict is found before the error is."""
    by_operator: bool = False


FORMS = [
    EditForm(
        ("portal/operator/partner_domain.html",),
        "/operator/partners/{partner}/domain",
        {"domain": "theirs.example"},
        {"domain": "not a domain"},
        {"domain": "mine.example"},
        by_operator=True,
    ),
    EditForm(
        ("portal/account/page.html",),
        "/account",
        {"name": "Theirs"},
        {"timezone": "Nowhere/Land"},
        {"timezone": "Asia/Tokyo"},
    ),
    EditForm(
        ("portal/users/edit.html",),
        "/users/{user}/edit",
        {"name": "Theirs"},
        {"name": "x" * 300},
        {"name": "Mine"},
    ),
    EditForm(
        ("portal/settings/sign_in.html",),
        "/settings/sign-in",
        {"idle_minutes": "20"},
        {"session_hours": "99"},
        {"session_hours": "5"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/personal_data/settings.html",),
        "/settings/personal-data",
        {"mails": "20"},
        {"webhooks": "99"},
        {"webhooks": "5"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/alerts/edit.html",),
        "/alerts/rules/{rule}",
        {"threshold": "30"},
        {"threshold": "101"},
        {"threshold": "40"},
    ),
    EditForm(
        ("portal/report/schedule.html",),
        "/report/schedule",
        {"recipients": "theirs@example.com"},
        {"recipients": "mine"},
        {"recipients": "mine@example.com"},
    ),
    EditForm(
        ("portal/contacts/edit.html",),
        "/campaigns/{campaign}/contacts/{contact}/edit",
        {"first_name": "Theirs"},
        {"email": "nonsense"},
        {"email": "mine@mail.example"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/record_lists/saved_view.html",),
        "/views/{view}",
        {"name": "Theirs"},
        {"name": ""},
        {"name": "Mine"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/settings/page.html",),
        "/settings",
        {"partner_name": "Theirs"},
        {"billing_email": "nonsense"},
        {"billing_email": "mine@northwind.example"},
    ),
    EditForm(
        ("portal/identity_providers/edit.html",),
        "/settings/company-accounts/{provider}",
        {"name": "Theirs"},
        {"client_id": ""},
        {"client_id": "mine"},
    ),
    EditForm(
        ("portal/scim/page.html",),
        "/settings/directory",
        {"default_role": "admin"},
        {"default_role": "nonsense"},
        {"default_role": "partnerEditor"},
    ),
    EditForm(
        ("portal/scim/group.html",),
        "/settings/directory/groups/{group}",
        {"role": "admin"},
        {"role": "nonsense"},
        {"role": "partnerEditor"},
    ),
    EditForm(
        ("portal/organization_groups/limit.html",),
        "/users/{limited}/groups",
        {"reach": "all"},
        {"reach": "some"},
        {"reach": "all"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/organization_groups/group.html",),
        "/settings/groups/{organization_group}",
        {"name": "North"},
        {"name": ""},
        {"name": "South"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/storage/_limit.html",),
        "/organizations/{organization}/storage",
        {"megabytes": "100"},
        {"megabytes": "nonsense"},
        {"megabytes": "200"},
    ),
    EditForm(
        ("portal/destinations/edit.html",),
        "/settings/destinations",
        {"hosts": "theirs.example"},
        {"hosts": "not a host"},
        {"hosts": "mine.example"},
    ),
    EditForm(
        ("portal/spending/organization.html",),
        "/organizations/{organization}/spending",
        {"day_money": "12.50"},
        {"month_minutes": "many"},
        {"month_minutes": "90"},
    ),
    EditForm(
        ("portal/spending/budget.html",),
        "/organizations/{organization}/budget",
        {"budget": "12.50"},
        {"budget": "12,50"},
        {"budget": "90.00"},
    ),
    EditForm(
        ("portal/spending/edit.html",),
        "/api-access/keys/{key}/spending",
        {"day_money": "12.50"},
        {"month_money": "12,50"},
        {"month_money": "90.00"},
    ),
    EditForm(
        ("portal/webhooks/edit.html",),
        "/api-access/webhooks/{webhook}/edit",
        {"url": "https://theirs.example/hooks"},
        {"url": "nonsense"},
        {"url": "https://mine.example/hooks"},
    ),
    EditForm(
        ("portal/branding/_form.html",),
        "/branding",
        {"product_name": "Theirs"},
        {"colour": "nonsense"},
        {"colour": "#1c7a4d"},
    ),
    EditForm(
        ("portal/assistants/edit.html",),
        "/assistants/{assistant}/edit",
        {"name": "Theirs"},
        {"phone_number": "nonsense"},
        {"phone_number": "+1 202 555 0177"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/organizations/plan.html", "portal/organizations/plan_check.html"),
        "/organizations/{organization}/plan",
        {"user_limit": "7"},
        {"assistant_limit": "nonsense"},
        {"assistant_limit": "9"},
    ),
    EditForm(
        ("portal/organizations/edit.html",),
        "/organizations/{organization}/edit",
        {"name": "Theirs"},
        {"referral_code": "x" * 300},
        {"referral_code": "MINE"},
    ),
    EditForm(
        ("portal/organizations/settings.html",),
        "/organizations/{organization}/settings",
        {"calling_hours_start": "10:00"},
        {"max_calls_a_day": "nonsense"},
        {"max_calls_a_day": "90"},
    ),
    EditForm(
        ("portal/organization_templates/edit.html",),
        "/organization-templates/{template}/edit",
        {"user_limit": "7"},
        {"max_calls_a_day": "nonsense"},
        {"max_calls_a_day": "90"},
    ),
    EditForm(
        ("portal/organization_templates/assistant.html",),
        "/organization-templates/{template}/assistants/0",
        {"name": "Theirs"},
        {"timezone": "Nowhere/Land"},
        {"timezone": "Asia/Tokyo"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/organization_templates/campaign.html",),
        "/organization-templates/{template}/campaign",
        {"calls_per_hour": "7"},
        {"calls_at_once": "nonsense"},
        {"calls_at_once": "2"},
    ),
    EditForm(
        ("portal/carriers/_account_form.html",),
        "/carriers/accounts/account",
        {"sid": "AC" + "1a" * 16},
        {"sid": "nonsense"},
        {"sid": "AC" + "2b" * 16},
        {"token": "2a" * 16},
        is_version_first=True,
    ),
    EditForm(
        ("portal/carriers/_account_form.html",),
        "/carriers/accounts/trunk",
        {"address": "9.9.9.9", "user": "theirs"},
        {"address": "not an address", "user": "mine"},
        {"address": "9.9.9.9", "user": "mine"},
        {"password": "nobody-sees-this"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/pricing/limits.html", "portal/pricing/limits_check.html"),
        "/pricing/limits",
        {"free-at_once": "7"},
        {"free-a_day": "nonsense"},
        {"free-a_day": "90"},
    ),
    EditForm(
        ("portal/pricing/plan.html",),
        "/pricing/plans/customerPlusPlan",
        {"name": "Theirs"},
        {"amount": "nonsense"},
        {"amount": "98.50"},
    ),
    EditForm(
        ("portal/pricing/stripe.html",),
        "/pricing/stripe",
        {"account_id": "acct_1111111"},
        {"account_id": "nonsense"},
        {"account_id": "acct_2222222"},
        {"secret": "sk_live_nobody_sees_this"},
        is_version_first=True,
    ),
    EditForm(
        ("portal/campaigns/plan.html",),
        "/campaigns/{campaign}/outreach/plan",
        {"calls_per_hour": "7"},
        {"calls_at_once": "nonsense"},
        {"calls_at_once": "2"},
    ),
    EditForm(
        ("portal/campaigns/settings.html",),
        "/campaigns/{campaign}/settings",
        {"name": "Theirs"},
        {"name": ""},
        {"name": "Mine"},
        is_version_first=True,
    ),
]
ROWS = {"PlanTextsRow", "AllowanceRow", "ColourRow", "LinkRow", "SocialRow", "TextsRow"}
"""Forms inside the field of a form."""
ABOVE_A_FORM = {
    "components/edit_conflict.html",
    "components/form_problems.html",
    "portal/branding/page.html",
}
SHOWS_A_CONFLICT = re.compile(r"\b(?:edit_conflict|form_problems)\(")
NEVER_REFUSED = {
    "portal/organization_templates/detail.html",  # a button without fields
    "portal/branding/review.html",  # shows the changes again if they are others meanwhile
    "portal/branding/_typed.html",  # the version of the studio's form after a save by typing
    "portal/uploads/_rows.html",  # a wrong cell is a finding of the next check
    "portal/uploads/_row_warnings.html",  # leaves a row out: the next check shows what is left
    "components/confirm.html",  # a question, which is asked again about what changed meanwhile
}
PANEL = "changed this"
CARRIED = re.compile(r"\.version\(\)|action_form\((?:[\w.]*version|upload\.check_number)")
NEEDS_DEBIAN = {"/carriers/accounts/trunk"}
"""The portal offers a SIP trunk where baresip is installed."""
EACH = pytest.mark.parametrize(
    "form",
    [
        pytest.param(
            form,
            id=form.path,
            marks=[pytest.mark.debian] if form.path in NEEDS_DEBIAN else [],
        )
        for form in FORMS
    ],
)


ALL_AT_ONCE: list[tuple[str, Fields]] = [
    (
        "/settings",
        {
            "support_email": "nonsense",
            "language": "xx",
            "billing_address": "x" * 101,
            "payment_text_de": "x" * 1001,
            "payment_days": "many",
        },
    ),
    (
        "/organizations/{organization}/settings",
        {"calling_hours_start": "nine", "max_calls_a_day": "0", "retry_times": "99"},
    ),
    (
        "/organizations/{organization}/edit",
        {"name": "", "referral_code": "x" * 300, "billing_address": "x" * 101},
    ),
    ("/users/{user}/edit", {"email": "nonsense", "name": "x" * 300}),
    (
        "/organization-templates/{template}/edit",
        {"name": "", "user_limit": "many", "max_calls_a_day": "0", "retry_minutes": "0"},
    ),
    (
        "/organization-templates/{template}/campaign",
        {"name": "", "assistant": "7", "hours_start": "nine", "calls_per_hour": "0"},
    ),
    (
        "/campaigns/{campaign}/outreach/plan",
        {"hours_start": "nine", "calls_per_hour": "0", "calls_at_once": "many"},
    ),
    (
        "/pricing/plans/customerPlusPlan",
        {"amount": "much", "name": "", "features": "x" * 121},
    ),
]
"""Wrong values of forms whose problems different parts find: the form, and rules of the service."""


@pytest.fixture
def ids(app: Flask, session: Session, tenant: Tenant) -> dict[str, object]:
    """The ids that the addresses of the forms name."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    assistant = assistants.of_organization(session, caller, tenant.organization.id)[0]
    assistant.phone_number, assistant.phone_enabled, assistant.phone_configured = (
        "+12025550199",
        True,
        True,
    )
    assistant.default_intro, assistant.default_voicemail = "Hello.", "Call us back."
    campaign = campaigns.create(
        session, caller, tenant.organization.id, name="Winter recall", all_assistants=True
    )
    person = {"firstName": "Ada", "phone": "+12025550120"}
    contacts.apply(session, campaign, [person], ContactAction.UPSERT)
    organization_id = tenant.organization.id
    key = api_keys.create(session, caller, organization_id=organization_id, name="Scripts").key
    wanted = RuleInput(AlertMeasure.LIMITS, AlertScope.EACH_ORGANIZATION, 80)
    rule = alerts.create(session, caller, wanted)
    view = saved_views.create(session, caller, "users", "q=a", ViewInput("View"))
    webhook = make_webhook(app, session, tenant)
    template = organization_templates.save_organization(
        session, caller, organization_id, "Dentists", campaign_id=campaign.id
    )
    fields = ProviderFields("Acme ID", "https://id.example", "portal", "a secret")
    provider = providers.add(session, caller, ["a key"], fields)
    group = scim_groups.create(session, caller, scim_groups.ScimGroupFields("Sales"))
    own_group = organization_groups.create(session, caller, GroupInput("West", [organization_id]))
    limited = tenant.staff[Role.ADMIN]
    organization_groups.limit(session, caller, limited, {own_group.id})
    return {
        "partner": tenant.partner.id,
        "template": template.id,
        "rule": rule.id,
        "view": view.id,
        "user": tenant.user.id,
        "assistant": assistant.id,
        "organization": tenant.organization.id,
        "campaign": campaign.id,
        "contact": session.scalars(select(Contact.id)).one(),
        "key": key.id,
        "webhook": webhook.id,
        "provider": provider.id,
        "group": group.id,
        "organization_group": own_group.id,
        "limited": limited.id,
    }


@pytest.fixture
def editors(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> Callable[[EditForm], Iterator[Browser]]:
    """Two browsers of a user who may use the form."""
    operator = operators.create(
        session, OPERATOR, email="root@platform.example", name=None, password_hash=PASSWORD_HASH
    )
    admin = tenant.staff[Role.PARTNER_ADMIN]
    return lambda form: (signed_in(operator if form.by_operator else admin) for _ in range(2))


def save(browser: Browser, page: str, path: str, typed: Fields) -> TestResponse:
    """Send the form of ``page``; if it is checked first, confirm the check."""
    form = PageForm(page, path)
    assert typed.keys() <= form.fields.keys()
    fields = form.fields | {name: [value] for name, value in typed.items()}
    if form.method == "post":
        return browser.client.post(form.action, data=fields)
    checked = browser.get(form.action, query_string=fields)
    return save(browser, checked.text, path, {}) if checked.status_code == 200 else checked


def shown(page: str, path: str, names: Fields) -> dict[str, str]:
    """Return the values of these fields of the form of ``page``."""
    fields = PageForm(page, path).fields
    return {name: fields[name][0] for name in names}


def subclasses(kind: type) -> Iterator[type]:
    below: type
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)


@pytest.mark.alternating
@EACH
def test_a_corrected_error_does_not_overwrite_what_was_saved_meanwhile(
    form: EditForm, ids: dict[str, object], editors: Callable[[EditForm], Iterator[Browser]]
) -> None:
    path = form.path.format(**ids)
    mine, theirs = editors(form)
    my_page, their_page = mine.get(path).text, theirs.get(path).text
    assert save(theirs, their_page, path, form.theirs | form.secrets).status_code == 303
    late = save(mine, my_page, path, form.wrong | form.secrets)
    if not form.is_version_first:
        assert late.status_code == 422
        assert PANEL not in late.text
        late = save(mine, late.text, path, form.corrected | form.secrets)
        assert shown(late.text, path, form.corrected) == form.corrected
    assert late.status_code == 409
    assert PANEL in late.text
    assert shown(mine.get(path).text, path, form.theirs) == form.theirs


@pytest.mark.alternating
@EACH
def test_a_user_who_saw_the_differences_can_overwrite_them_even_after_another_error(
    form: EditForm, ids: dict[str, object], editors: Callable[[EditForm], Iterator[Browser]]
) -> None:
    path = form.path.format(**ids)
    mine, theirs = editors(form)
    my_page, their_page = mine.get(path).text, theirs.get(path).text
    assert save(theirs, their_page, path, form.theirs | form.secrets).status_code == 303
    late = save(mine, my_page, path, form.corrected | form.secrets)
    assert late.status_code == 409
    assert PANEL in late.text
    refused = save(mine, late.text, path, form.wrong | form.secrets)
    assert refused.status_code == 422
    saved = save(mine, refused.text, path, form.corrected | form.secrets)
    assert saved.status_code == 303
    assert shown(mine.get(path).text, path, form.corrected) == form.corrected


@pytest.mark.parametrize(("form_path", "wrong"), ALL_AT_ONCE, ids=[path for path, _ in ALL_AT_ONCE])
def test_every_wrong_value_is_marked_at_once_with_one_sentence(
    tenant: Tenant,
    signed_in: SignedIn,
    ids: dict[str, object],
    form_path: str,
    wrong: Fields,
) -> None:
    path, browser = form_path.format(**ids), signed_in(tenant.staff[Role.PARTNER_ADMIN])
    refused = save(browser, browser.get(path).text, path, wrong)
    assert refused.status_code == 422
    errors = re.findall(r'id="(\w+)-error">(.*?)</p>', refused.text, re.DOTALL)
    assert {name for name, _ in errors} == wrong.keys()
    summary = refused.text.partition('class="error-summary"')[2].partition("</div>")[0]
    assert [words for _, words in errors if "<br>" in words] == []
    assert set(re.findall(r'href="#(\w+)"', summary)) == wrong.keys()


def test_a_field_that_its_user_did_not_change_takes_what_was_saved_meanwhile(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    mine, theirs = (signed_in(tenant.staff[Role.PARTNER_ADMIN]) for _ in range(2))
    my_page, their_page = (browser.get("/settings").text for browser in (mine, theirs))
    save(theirs, their_page, "/settings", {"partner_name": "Theirs"})
    typed = {"billing_email": "mine@northwind.example"}
    refused = save(mine, my_page, "/settings", {"billing_email": "nonsense"})
    late = save(mine, refused.text, "/settings", typed)
    assert late.status_code == 409
    assert in_conflict(late.text) == {"Company name": ("Theirs", "The same now")}
    assert "Your changes are to other fields" in unescape(late.text)
    assert save(mine, late.text, "/settings", {}).status_code == 303
    expected = typed | {"partner_name": "Theirs"}
    assert shown(mine.get("/settings").text, "/settings", expected) == expected


def test_a_conflict_shows_what_the_other_user_changed_and_not_what_only_its_user_did(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    mine, theirs = (signed_in(tenant.staff[Role.PARTNER_ADMIN]) for _ in range(2))
    my_page, their_page = (browser.get("/settings").text for browser in (mine, theirs))
    changed = {"partner_name": "Theirs", "partner_type": "reseller"}
    save(theirs, their_page, "/settings", changed)
    typed = {"partner_name": "Mine", "billing_email": "mine@northwind.example"}
    late = save(mine, my_page, "/settings", typed)
    assert late.status_code == 409
    assert in_conflict(late.text) == {
        "Company name": ("Theirs", "Mine"),
        "Kind of partnership": ("reseller", "The same now"),
    }
    assert "replaces the saved values with yours" in late.text


def test_every_form_with_a_version_is_tested_here() -> None:
    covered = {name for form in FORMS for name in form.templates}
    carried = {name for name, source in SOURCES.items() if CARRIED.search(source)}
    shown = {name for name, source in SOURCES.items() if SHOWS_A_CONFLICT.search(source)}
    edited_in = carried | shown - ABOVE_A_FORM
    assert sorted(edited_in - covered - NEVER_REFUSED) == [], "FORMS has no entry for these"
    assert sorted((covered | NEVER_REFUSED) - edited_in) == [], "no edit form is in these"
    ours = {kind for kind in subclasses(PortalForm) if kind.__module__.startswith("app.")}
    edited = {kind.__name__ for kind in ours if "version" in vars(kind)}
    counts = (len(edited - {ActionForm.__name__}), len(FORMS))
    assert counts[0] == counts[1], f"FORMS needs one entry for each of {sorted(edited)}"


def test_no_template_writes_a_hidden_field_of_forms_by_hand() -> None:
    by_hand = re.compile(r"csrf_token|name=\"(?:once|version)\"")
    assert {name for name, source in SOURCES.items() if by_hand.search(source)} == set()


def test_every_form_that_is_sent_is_a_portal_form() -> None:
    ours = {kind for kind in subclasses(Form) if kind.__module__.startswith("app.")}
    assert {kind.__name__ for kind in ours if not issubclass(kind, PortalForm)} == ROWS
