"""People in the portal: invited, changed, shut out and let in, one by one and several at once."""

import io
import re
from collections.abc import Callable
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.models import Mail, MailKind, Organization, User, utcnow
from app.policy.caller import Caller
from app.schemas.parsing import read
from app.schemas.users import UpdateUserInput
from app.services import organizations, users
from app.services.users import Invitee
from tests.fixtures.tenants import OPERATOR, Tenant, make_user
from tests.portal.checked_lines import form_of, outcomes
from tests.portal.conftest import Browser, fresh, in_conflict, user_of
from tests.portal.paths import paths_with

SignedIn = Callable[[User], Browser]
ABSENT = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"


@pytest.fixture
def browser(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def unlimited_tenant(session: Session, tenant: Tenant) -> Tenant:
    """Organizations without a limit of people."""
    tenant.organization.user_limit = tenant.plus.user_limit = 0
    session.commit()
    return tenant


def mails_to(session: Session, user: User, kind: MailKind) -> int:
    query = select(func.count()).where(Mail.user_id == user.id, Mail.kind == kind)
    return session.scalar(query) or 0


INVITED = {
    "email": "ada@x.example",
    "name": "Ada",
    "role": Role.STANDARD.value,
    "organization": "northwind bakery",
    "once": "abc123",
}


def test_an_invited_member_belongs_to_the_organization_named(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    answers = [browser.post("/users/invite", INVITED, page="/users/invite") for _ in "12"]
    [made] = session.scalars(select(User).where(User.email == INVITED["email"])).all()
    assert {(a.status_code, a.location) for a in answers} == {(303, f"/users/{made.id}")}
    assert (made.name, made.status, made.organization_id) == (
        "Ada",
        UserStatus.INVITED,
        unlimited_tenant.organization.id,
    )
    assert mails_to(session, made, MailKind.INVITATION) == 1


def test_an_email_in_a_heading_or_message_breaks_after_its_at_and_dots(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    unlimited_tenant.user.name, unlimited_tenant.user.email = (
        None,
        "ann@long.name.example",
    )
    session.commit()
    page = browser.get(f"/users/{unlimited_tenant.user.id}").text
    assert "<h1>ann@<wbr>long.<wbr>name.<wbr>example</h1>" in page
    browser.post(
        "/users/invite", INVITED | {"email": "bob@long.name.example"}, page="/users/invite"
    )
    made = session.scalars(select(User).where(User.email == "bob@long.name.example")).one()
    title = browser.get(f"/users/{made.id}").text.partition('class="result-title">')[2]
    assert "bob@<wbr>long.<wbr>name.<wbr>example" in title.partition("</p>")[0]


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.ADMIN])
def test_an_invitation_over_the_user_limit_leads_to_the_limit(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(tenant.staff[role])
    limit = f'href="/organizations/{tenant.organization.id}/plan?users=2"'
    one = browser.post("/users/invite", INVITED, page="/users/invite")
    lines = {"users": f"ada@x.example, Ada, {tenant.organization.name}"}
    several = browser.post(CHECK, lines, page=MANY)
    before = browser.get(f"/users/invite?organization={tenant.organization.id}")
    free = browser.get("/users/invite")
    assert "has 1 of 1 users" in before.text
    assert "Raise its user limit" not in free.text
    members = browser.get(f"/organizations/{tenant.organization.id}/users")
    assert f'{limit} target="_blank"' in one.text  # what was typed stays
    assert one.text.count("has 1 of 1 users") == 1
    for answer, status in ((one, 422), (several, 200), (members, 200), (before, 200)):
        assert answer.status_code == status
        assert limit in answer.text
    page = browser.get(f"/organizations/{tenant.organization.id}/plan?users=2").text
    assert re.findall(r'name="user_limit"[^>]* value="(\d+)"', page) == ["2"]


def test_the_field_organization_says_how_it_is_chosen(browser: Browser) -> None:
    assert "Type part of the name, then choose it." in browser.get("/users/invite").text


def test_staff_are_invited_without_an_organization(session: Session, browser: Browser) -> None:
    typed = INVITED | {"role": Role.PARTNER_EDITOR.value, "organization": ""}
    assert browser.post("/users/invite", typed, page="/users/invite").status_code == 303
    made = session.scalars(select(User).where(User.email == INVITED["email"])).one()
    assert (made.user_type, made.organization_id) == (Role.PARTNER_EDITOR, None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"email": "nobody"}, "Email: Enter an email like name@example.com"),
        ({"email": "olga@northwind.example"}, "Email: A user with this email address exists"),
        ({"organization": ""}, "Organization: Enter the organization of this member"),
        ({"email": "nobody", "organization": ""}, "2 things need changing"),
        ({"email": "nobody", "organization": "Nowhere"}, "2 things need changing"),
        ({"email": "olga@northwind.example", "organization": "Nowhere"}, "2 things need changing"),
        ({"organization": "Nowhere"}, "Organization: There is no organization called “Nowhere”."),
        ({"role": "operator"}, "Role: "),
    ],
)
def test_each_problem_is_at_its_field(
    unlimited_tenant: Tenant, browser: Browser, changes: dict[str, str], words: str
) -> None:
    answer = browser.post("/users/invite", INVITED | changes, page="/users/invite")
    assert answer.status_code == 422
    assert words in unescape(answer.text)


def test_an_operator_can_invite_only_members(tenant: Tenant, operator: Browser) -> None:
    page = f"/users/invite?organization={tenant.organization.id}"
    assert f'value="{Role.PARTNER_ADMIN.value}"' not in operator.get(page).text
    typed = INVITED | {"role": Role.PARTNER_ADMIN.value, "organization": ""}
    refused = operator.post(page, typed, page=page)
    assert refused.status_code == 422
    assert "Role: Not a valid choice." in refused.text


def test_an_owner_of_a_full_organization_reads_the_text_of_the_partner(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    session.get_one(User, tenant.user.id).role = Role.OWNER
    tenant.partner.partner_upgrade_message = "Plus has room for ten."
    tenant.partner.purchase_link = "https://northwind.example/plus"
    session.commit()
    owner = signed_in(tenant.user)
    answer = owner.post("/users/invite", INVITED, page="/users/invite")
    shown = unescape(answer.text)
    assert answer.status_code == 422
    assert shown.count("Your organization uses 1 of 1 seats.") == 1
    assert "Plus has room for ten." in shown
    assert 'href="https://northwind.example/plus"' in shown


def test_the_form_offers_the_roles_that_may_be_given_and_says_what_they_do(
    tenant: Tenant, signed_in: SignedIn, browser: Browser
) -> None:
    full = browser.get("/users/invite").text
    assert all(f'value="{role}"' in full for role in ("standard", "admin", "partnerAdmin"))
    assert "Create and revoke API keys and clients" in full
    narrow = signed_in(tenant.staff[Role.ADMIN]).get("/users/invite").text
    assert 'value="partnerAdmin"' not in narrow
    assert "Create and revoke API keys and clients" not in narrow


def edit(user: User, **changes: str) -> dict[str, str]:
    return {
        "email": user.email,
        "name": user.name or "",
        "role": user.user_type.value,
        "version": str(user.version),
        **changes,
    }


def test_address_name_and_role_are_changed_together(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    editor = tenant.staff[Role.PARTNER_EDITOR]
    path = f"/users/{editor.id}/edit"
    typed = edit(editor, email="jonas@northwind.example", name="Jonas", role="admin")
    assert browser.post(path, typed, page=path).status_code == 303
    saved = fresh(session, editor)
    assert (saved.email, saved.name, saved.user_type) == (
        "jonas@northwind.example",
        "Jonas",
        Role.ADMIN,
    )


def test_nothing_is_half_saved_where_the_role_is_refused(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    path = f"/users/{tenant.user.id}/edit"
    typed = edit(tenant.user, name="Olga Reyes", role="partnerAdmin")
    answer = browser.post(path, typed, page=path)
    assert answer.status_code == 422
    assert fresh(session, tenant.user).name is None


def test_two_users_who_change_the_same_user_see_the_conflict(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    path = f"/users/{tenant.user.id}/edit"
    typed = edit(tenant.user, name="Olga R.")
    colleague = tenant.caller(Role.ADMIN)
    changes = read(UpdateUserInput, {"email": "olga.reyes@northwind.example"})
    users.update(session, colleague, tenant.user.id, changes, name="Olga Reyes")
    session.commit()
    refused = browser.post(path, typed, page=path)
    shown = unescape(refused.text)
    assert refused.status_code == 409
    assert in_conflict(shown)["Name"] == ("Olga Reyes", "Olga R.")
    assert fresh(session, tenant.user).name == "Olga Reyes"


def test_users_cannot_choose_their_own_role(tenant: Tenant, browser: Browser) -> None:
    page = browser.get(f"/users/{tenant.staff[Role.PARTNER_ADMIN].id}/edit")
    assert page.status_code == 200
    assert 'name="role"' not in page.text


@pytest.mark.parametrize(
    ("act", "status"),
    [("suspend", UserStatus.SUSPENDED), ("deactivate", UserStatus.DEACTIVATED)],
)
def test_deactivating_a_user_asks_and_can_be_undone(
    session: Session, tenant: Tenant, browser: Browser, act: str, status: UserStatus
) -> None:
    base = f"/users/{tenant.user.id}"
    assert "Signed out immediately" in browser.get(f"{base}/{act}").text
    for _ in range(2):
        assert browser.post(f"{base}/{act}", page="/users/invite").location == base
    assert fresh(session, tenant.user).status is status
    assert "Reactivate" in browser.get(base).text
    browser.post(f"{base}/reactivate", page=base)
    assert fresh(session, tenant.user).status is UserStatus.ACTIVE


def test_the_last_administrator_stays_and_the_reason_is_shown(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    own_account = tenant.staff[Role.PARTNER_ADMIN]
    base = f"/users/{own_account.id}"
    answer = browser.post(f"{base}/suspend", page="/users/invite")
    assert answer.location == base
    assert "suspend or deactivate yourself" in unescape(browser.get(base).text)
    assert fresh(session, own_account).status is UserStatus.ACTIVE


def test_an_invitation_is_sent_again_to_an_invited_user(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    browser.post("/users/invite", INVITED, page="/users/invite")
    invited = session.scalars(select(User).where(User.email == INVITED["email"])).one()
    base = f"/users/{invited.id}"
    assert "Resend invitation" in browser.get(base).text
    assert browser.post(f"{base}/resend", page=base).location == base
    assert mails_to(session, invited, MailKind.INVITATION) == 1
    here = f"/users/{unlimited_tenant.user.id}"
    assert "Resend invitation" not in browser.get(here).text
    browser.post(f"{here}/resend", page=base)
    assert "No invitation is needed" in unescape(browser.get(here).text)


def test_no_one_is_invited_into_a_suspended_organization(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    member, organization = unlimited_tenant.user, unlimited_tenant.organization
    member.status = UserStatus.INVITED
    organizations.suspend(session, OPERATOR, organization.id)
    session.commit()
    sentence = f"{organization.name} is suspended. Reactivate it first."
    answer = browser.post("/users/invite", INVITED, page="/users/invite")
    assert answer.status_code == 422
    assert sentence in answer.text
    several = {"users": f"new@castell.example, New, Member, {organization.name}"}
    checked = browser.post(CHECK, several, page=MANY)
    assert sentence in unescape(checked.text)
    pages = (f"/organizations/{organization.id}/users", f"/users/{member.id}")
    offers = ("Invite user", "Invite several\n", "Invite another", "Resend invitation")
    content = "".join(browser.get(page).text.partition("<main")[2] for page in pages)
    assert [words for words in offers if words in content] == []
    browser.post(f"/users/{member.id}/resend")
    page = browser.get(f"/users/{member.id}").text
    assert sentence in page
    assert mails_to(session, member, MailKind.INVITATION) == 0


def test_several_invitations_are_sent_again(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    browser.post("/users/invite", INVITED, page="/users/invite")
    invited = session.scalars(select(User).where(User.email == INVITED["email"])).one()
    mail = session.scalars(select(Mail).where(Mail.user_id == invited.id)).one()
    mail.sent_at = utcnow()
    session.commit()
    path = "/lists/users/actions/resend"
    listed = unescape(browser.get("/users").text)
    assert f'href="{path}?id={invited.id}"' in listed
    assert listed.count(f"{path}?id=") == 1
    chosen = {"id": [str(invited.id), str(unlimited_tenant.user.id)]}
    page = unescape(browser.post(path, chosen, page=path).text)
    assert "1 invitation sent" in page
    assert "Already accepted the invitation." in page
    assert mails_to(session, invited, MailKind.INVITATION) == 2


def test_several_users_are_suspended_with_a_result_for_each(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    me, olga, paul = tenant.staff[Role.PARTNER_ADMIN], tenant.user, tenant.plus_user
    olga.status = UserStatus.SUSPENDED
    session.commit()
    chosen = {"id": [str(user.id) for user in (me, olga, paul)]}
    asked = unescape(browser.get(SUSPEND, query_string=chosen).text)
    assert "Suspend 1 user?" in asked
    assert "2 of 3 selected can’t be changed:" in asked
    answer = unescape(browser.post(SUSPEND, chosen, page="/users/invite").text)
    assert "1 user suspended" in answer
    assert "2 of 3 were left unchanged." in answer
    assert "You can’t do this to yourself." in answer
    assert "Already done. Nothing was changed." in answer
    assert fresh(session, paul).status is UserStatus.SUSPENDED
    again = unescape(browser.post(SUSPEND, chosen, page="/users/invite").text)
    assert "0 users suspended" in again
    back = unescape(browser.post(REACTIVATE, chosen, page="/users/invite").text)
    assert "2 users reactivated" in back
    assert fresh(session, olga).status is UserStatus.ACTIVE


def test_users_that_the_caller_may_not_change_cannot_be_selected(
    session: Session, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = signed_in(tenant.staff[Role.ADMIN])
    people = (tenant.staff[Role.PARTNER_EDITOR], other_tenant.user, tenant.user)
    chosen = {"id": [*(str(user.id) for user in people), "no id", ABSENT]}
    page = unescape(admin.get(SUSPEND, query_string=chosen).text)
    assert "Suspend 1 user?" in page
    admin.post(SUSPEND, chosen, page="/users/invite")
    assert [fresh(session, user).status for user in people] == [
        UserStatus.ACTIVE,
        UserStatus.ACTIVE,
        UserStatus.SUSPENDED,
    ]
    assert "Nothing selected" in admin.get(SUSPEND).text


MANY, CHECK = "/users/invite-many", "/users/invite-many/check"


def invited(session: Session) -> set[tuple[str, str | None, Role, UUID | None]]:
    session.expire_all()
    made = session.scalars(select(User).where(User.email.endswith("@x.example"))).all()
    assert {mails_to(session, user, MailKind.INVITATION) for user in made} <= {1}
    return {(user.email, user.name, user.role, user.organization_id) for user in made}


@pytest.mark.parametrize(
    ("line", "organization", "role"),
    [
        ("ada@x.example, Ada, Owner, Northwind Bakery", "Northwind Bakery", "Owner"),
        ("ada@x.example, Ada, Northwind Bakery, Owner", "Northwind Bakery", "Owner"),
        ("ada@x.example, Ada, Owner, Member", "Owner", "Member"),
        ("ada@x.example, Ada, Owner", "", "Owner"),
    ],
)
def test_role_and_organization_of_a_line_may_change_places(
    browser: Browser, line: str, organization: str, role: str
) -> None:
    kept = form_of(browser.post(CHECK, {"users": line}, page=MANY).text)["rows"]
    assert kept.splitlines()[1] == f"1,ada@x.example,Ada,{organization},{role}"


@pytest.mark.parametrize("path", ["/users/invite", "/users/invite-many/check"])
def test_a_part_of_an_organizations_name_is_answered_with_the_name(
    browser: Browser, path: str
) -> None:
    typed = INVITED | {"organization": "bakery", "users": "ada@x.example"}
    answer = browser.post(path, typed, page="/users/invite")
    asked = "There is no organization called “bakery”. Did you mean “Northwind Bakery”?"
    assert answer.status_code == 422
    assert asked in unescape(answer.text)


@pytest.mark.parametrize("path", ["/users/invite", "/users/invite-many/check"])
def test_no_one_is_invited_into_an_archived_organization(
    session: Session, tenant: Tenant, browser: Browser, path: str
) -> None:
    organizations.archive(session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id)
    session.commit()
    address = f"{path}?organization={tenant.organization.id}"
    typed = INVITED | {"organization": tenant.organization.name, "users": "ada@x.example"}
    answer = browser.post(address, typed, page="/users/invite")
    assert answer.status_code == 422
    assert "The organization is archived" in unescape(answer.text)


def test_many_are_checked_fixed_on_the_page_and_then_invited(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    lines = "ada@x.example, Ada, Northwind Dental\n\ngrace@x.example\nnobody, No\nx, X\n"
    typed = {"users": lines, "organization": "Northwind Bakery"}
    page = browser.post(CHECK, typed, page=MANY).text
    refused = "Enter an email like name@example.com."
    assert outcomes(page) == {
        "1 ada@x.example": "Ready",
        "3 grace@x.example": "Ready",
        "4 nobody": refused,
        "5 x": refused,
    }
    assert "No one is invited yet." in page
    assert "Invite 2, leave out 2<" in page
    changed = form_of(page) | {"email-2": "kay@x.example", "remove-3": "on"}
    again = browser.post(MANY, changed, page=MANY).text
    assert outcomes(again) == {
        "1 ada@x.example": "Ready",
        "3 grace@x.example": "Ready",
        "4 kay@x.example": "Ready",
    }
    assert invited(session) == set()
    answers = [browser.post(MANY, form_of(again), page=MANY) for _ in "12"]
    assert [(a.status_code, a.location) for a in answers] == [(303, "/users")] * 2
    people = unescape(browser.get("/users").text)
    assert people.count("3 users invited.") == 2
    assert invited(session) == {
        ("ada@x.example", "Ada", Role.STANDARD, unlimited_tenant.plus.id),
        ("grace@x.example", None, Role.STANDARD, unlimited_tenant.organization.id),
        ("kay@x.example", "No", Role.STANDARD, unlimited_tenant.organization.id),
    }


def test_lines_that_were_not_fixed_are_left_out_and_stay_on_the_page(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    email = unlimited_tenant.user.email
    lines = f"ada@x.example\nADA@x.example,,,Boss\n{email}\n=nobody, No, , Chief\n"
    typed = {"users": lines, "organization": "Northwind Bakery"}
    page = browser.post(CHECK, typed, page=MANY).text
    refused = "Enter an email like name@example.com. Choose Member or Owner."
    assert outcomes(page) == {
        "1 ada@x.example": "Ready",
        "2 ADA@x.example": "Duplicate",
        f"3 {unlimited_tenant.user.email}": "Existing",
        "4 =nobody": refused,
    }
    assert "Listed twice." in page
    assert "Already a member." in page
    left = browser.post(MANY, form_of(page), page=MANY).text
    assert "<h1>1 user invited</h1>" in left
    assert outcomes(left) == {"4 =nobody": refused}
    assert invited(session) == {
        ("ada@x.example", None, Role.STANDARD, unlimited_tenant.organization.id),
    }
    none = browser.post(CHECK, form_of(left) | {"remove-0": "on"}, page=MANY)
    assert none.status_code == 422
    assert "Enter at least one address" in none.text


def test_all_problems_of_a_line_are_shown_at_once(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    taken = f"{unlimited_tenant.plus_user.email}, Pia, {{}}, Boss"
    lines = [taken.format("Northwind Bakery"), taken.format("Nowhere"), taken.format("")]
    page = browser.post(CHECK, {"users": "\n".join(lines)}, page=MANY).text
    exists = "A user with this email address exists already."
    role = "Choose Member or Owner."
    unknown = "There is no organization called “Nowhere”."
    missing = "No organization. Add one, or choose one for all rows."
    assert list(outcomes(page).values()) == [
        f"{exists} {role}",
        f"{exists} {unknown} {role}",
        f"{exists} {missing} {role}",
    ]


def test_the_name_of_an_organization_that_was_nearly_right_is_chosen_by_a_button(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    line = {"users": "ada@x.example, Ada, Northwind and Bakery"}
    page = browser.post(CHECK, line, page=MANY).text
    assert re.findall(r'<button [^>]*name="organization-0" value="([^"]*)"', page) == [
        "Northwind Bakery"
    ]
    chosen = form_of(page) | {"organization-0": "Northwind Bakery"}
    ready = browser.post(CHECK, chosen, page=MANY).text
    browser.post(MANY, form_of(ready), page=MANY)
    assert invited(session) == {
        ("ada@x.example", "Ada", Role.STANDARD, unlimited_tenant.organization.id)
    }


def test_lines_are_fixed_with_an_organization_for_all(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    page = browser.post(CHECK, {"users": "ada@x.example, Ada\nkay@x, Kay"}, page=MANY).text
    missing = "No organization. Add one, or choose one for all rows."
    assert outcomes(page) == {
        "1 ada@x.example": missing,
        "2 kay@x": f"Enter an email like name@example.com. {missing}",
    }
    wrong = re.findall(r'name="(\w+-\d)"[^>]* aria-invalid="true"', page)
    assert wrong == ["organization-0", "email-1", "organization-1"]
    assert 'id="organization" list="organization-names"' in page
    unknown = browser.post(CHECK, form_of(page) | {"organization": "Nowhere"}, page=MANY)
    assert unknown.status_code == 422
    assert "Organization: There is no organization called “Nowhere”." in unescape(unknown.text)
    fixed = form_of(unknown.text) | {"organization": "Northwind Bakery", "remove-1": "on"}
    checked = browser.post(CHECK, fixed, page=MANY).text
    assert browser.post(MANY, form_of(checked), page=MANY).status_code == 303
    assert invited(session) == {
        ("ada@x.example", "Ada", Role.STANDARD, unlimited_tenant.organization.id)
    }


def test_many_are_invited_with_the_chosen_role_or_that_of_their_line(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    lines = (
        "ada@x.example, Ada, Northwind Dental, member\n"
        "bob@x.example; Bob; Member\n"
        "cleo@x.example\n"
        "dan@x.example, Dan, Northwind Dental, Partner admin\n"
    )
    typed = {"users": lines, "organization": "Northwind Bakery", "role": "owner"}
    page = browser.post(CHECK, typed, page=MANY).text
    assert outcomes(page)["4 dan@x.example"] == "Choose Member or Owner."
    assert '<option value="Partner admin" selected>' in page
    fixed = browser.post(CHECK, form_of(page) | {"role-3": ""}, page=MANY).text
    assert browser.post(MANY, form_of(fixed), page=MANY).status_code == 303
    assert invited(session) == {
        ("ada@x.example", "Ada", Role.STANDARD, unlimited_tenant.plus.id),
        ("bob@x.example", "Bob", Role.STANDARD, unlimited_tenant.organization.id),
        ("cleo@x.example", None, Role.OWNER, unlimited_tenant.organization.id),
        ("dan@x.example", "Dan", Role.OWNER, unlimited_tenant.plus.id),
    }
    refused = browser.post(CHECK, typed | {"role": "partnerAdmin"}, page=MANY)
    assert refused.status_code == 422


def test_the_first_lines_take_the_free_seats_of_an_organization(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    unlimited_tenant.organization.user_limit = 3
    session.commit()
    lines = [
        "ada@x.example, Ada, Northwind Bakery",
        "bob@x.example, Bob, Northwind Dental",
        "grace@x.example",
        "kay@x.example, Kay",
        "joan@x, Joan",
        f"{unlimited_tenant.user.email}",
    ]
    typed = {"users": "\n".join(lines), "organization": "Northwind Bakery"}
    page = unescape(browser.post(CHECK, typed, page=MANY).text)
    words = "Northwind Bakery has {} of 3 users. Raise the limit by 1."
    full = "User limit reached. Raise the limit, or leave this row out."
    no_address = "Enter an email like name@example.com."
    assert outcomes(page) == {
        "1 ada@x.example": "Ready",
        "2 bob@x.example": "Ready",
        "3 grace@x.example": "Ready",
        "4 kay@x.example": full,
        "5 joan@x": no_address,
        f"6 {unlimited_tenant.user.email}": "Existing",
    }
    assert page.count(f'<p class="result-title">{words.format(1)}</p>') == 1
    assert (
        f'href="/organizations/{unlimited_tenant.organization.id}/plan?users=4" target="_blank"'
        in page
    )
    left = browser.post(MANY, form_of(page), page=MANY).text
    assert outcomes(left) == {"4 kay@x.example": full, "5 joan@x": no_address}
    assert left.count(f'<p class="result-title">{words.format(3)}</p>') == 1
    assert {email for email, *_ in invited(session)} == {
        "ada@x.example",
        "bob@x.example",
        "grace@x.example",
    }


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_long_list_is_invited_in_several_transactions_and_goes_on_after_a_fault(
    session: Session,
    unlimited_tenant: Tenant,
    browser: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(users, "BATCH_SIZE", 2)
    lines = "\n".join(f"{name}@x.example" for name in ("ada", "bob", "cleo", "dan", "eve"))
    typed = {"users": lines, "organization": "Northwind Bakery"}
    form = form_of(browser.post(CHECK, typed, page=MANY).text)
    invite_many, parts = users.invite_many, []

    def failing(session: Session, caller: Caller, rows: list[Invitee], *more: Any) -> Any:
        parts.append([row.number for row in rows])
        if len(parts) == 2:
            raise OSError("No space left")
        return invite_many(session, caller, rows, *more)

    monkeypatch.setattr(users, "invite_many", failing)
    with pytest.raises(OSError, match="No space"):
        browser.post(MANY, form, page=MANY)
    session.rollback()
    assert {email for email, *_ in invited(session)} == {"ada@x.example", "bob@x.example"}
    assert browser.post(MANY, form, page=MANY).location == "/users"
    assert "5 users invited." in browser.get("/users").text
    assert (parts[2:], len(invited(session))) == ([[3, 4], [5]], 5)


@pytest.mark.parametrize(("before", "after"), [(0, 1), (1, 0)])
def test_a_user_limit_that_changes_after_the_check_is_shown_before_anyone_is_invited(
    session: Session, unlimited_tenant: Tenant, browser: Browser, before: int, after: int
) -> None:
    lines = "ada@x.example\nbob@x.example\nkay@x.example, Kay, Northwind Dental"
    typed = {"users": lines, "organization": "Northwind Bakery"}
    full = "User limit reached. Raise the limit, or leave this row out."
    states = {0: "Ready", 1: full}
    for limit, path in ((before, CHECK), (after, MANY)):
        unlimited_tenant.organization.user_limit = limit
        session.commit()
        page = browser.post(path, typed, page=MANY).text
        typed = form_of(page)
        assert outcomes(page) == {
            "1 ada@x.example": states[limit],
            "2 bob@x.example": states[limit],
            "3 kay@x.example": "Ready",
        }
        assert ("The list has changed since the check." in page) is (path == MANY)
    assert invited(session) == set()


def test_inviting_several_from_an_organization_presets_it_and_leads_back(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    session.add(
        Organization(
            partner_id=unlimited_tenant.partner.id,
            name=unlimited_tenant.plus.name,
        )
    )
    session.commit()
    asked = f"?organization={unlimited_tenant.plus.id}"
    first = browser.get(MANY + asked).text
    assert f'value="{unlimited_tenant.plus.name}"' in first
    assert f'href="/organizations/{unlimited_tenant.plus.id}/users">Cancel' in first
    typed = {"users": "ada@x.example", "organization": unlimited_tenant.plus.name}
    page = browser.post(CHECK + asked, typed, page=MANY).text
    answer = browser.post(MANY + asked, form_of(page), page=MANY)
    assert answer.location == f"/organizations/{unlimited_tenant.plus.id}/users"
    assert invited(session) == {("ada@x.example", None, Role.STANDARD, unlimited_tenant.plus.id)}


def test_an_invitation_from_an_organization_offers_its_roles_and_requires_it(
    tenant: Tenant, browser: Browser
) -> None:
    page = browser.get(f"/users/invite?organization={tenant.plus.id}").text
    roles = re.findall(r'name="role"[^>]* value="(\w+)"', page)
    assert sorted(roles) == sorted([Role.OWNER.value, Role.STANDARD.value])
    label = r'<label class="field-label" for="organization">([^<]+)</label>'
    assert re.findall(label, page) == ["Organization"]
    first, second = re.findall(r'<div class="form-check">(.*?)</details>\s*</div>', page, re.DOTALL)
    assert "What an owner may do" in first + second
    assert "What a member may do" in first + second


def test_each_address_of_a_line_is_fixed_by_itself(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    line = "ada@x.example; Kay <kay@x.example>; joan@x; mary@"
    typed = {"users": f"grace@x.example, Grace\n{line}", "organization": "Northwind Bakery"}
    page = browser.post(CHECK, typed, page=MANY).text
    refused = "Enter an email like name@example.com."
    assert outcomes(page) == {
        "1 grace@x.example": "Ready",
        "2 ada@x.example": "Ready",
        "2 kay@x.example": "Ready",
        "2 joan@x": refused,
        "2 mary@": refused,
    }
    fixed = form_of(page) | {"email-3": "joan@x.example", "remove-4": "on"}
    checked = browser.post(CHECK, fixed, page=MANY).text
    assert browser.post(MANY, form_of(checked), page=MANY).status_code == 303
    assert {(email, name) for email, name, *_ in invited(session)} == {
        ("ada@x.example", None),
        ("kay@x.example", "Kay"),
        ("grace@x.example", "Grace"),
        ("joan@x.example", None),
    }


def test_a_file_of_many_goes_before_the_text(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    content = "E-mail;Name;Organization\nada@x.example;Ada;Northwind Dental\n".encode("utf-16")
    sent: dict[str, Any] = {
        "users": "kay@x.example",
        "file": (io.BytesIO(content), "people.csv"),
    }
    page = browser.post(CHECK, sent, page=MANY).text
    assert outcomes(page) == {"2 ada@x.example": "Ready"}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"users": ""}, "Users: Enter at least one address"),
        ({"users": "ada@x.example", "organization": "Nowhere"}, "Organization: There is no"),
        ({"rows": "line,email\n"}, "Users: Enter at least one address"),
    ],
)
@pytest.mark.parametrize("path", [MANY, CHECK])
def test_unreadable_lines_are_refused_at_their_field(
    tenant: Tenant, browser: Browser, path: str, typed: dict[str, str], words: str
) -> None:
    answer = browser.post(path, typed, page=MANY)
    assert answer.status_code == 422
    assert words in unescape(answer.text)


def test_the_list_is_narrowed_by_words_role_status_and_organization(
    tenant: Tenant, browser: Browser
) -> None:
    all_users = {user.email for user in (*tenant.staff.values(), tenant.user, tenant.plus_user)}
    for address, found in (
        ("/users", all_users),
        ("/users?q=dental", {tenant.plus_user.email}),
        ("/users?role=admin", {tenant.staff[Role.ADMIN].email}),
        ("/users?status=suspended", set()),
        (f"/users?organization={tenant.organization.id}", {tenant.user.email}),
    ):
        page = browser.get(address).text.replace("<wbr>", "")
        listed = {email for email in all_users if f'dir="auto">{email}</a>' in page}
        assert listed == found


SUSPEND, REACTIVATE = "/lists/users/actions/suspend", "/lists/users/actions/reactivate"


def answers_to_forms(
    app: Flask, browser: Browser, user_id: object, typed: dict[str, str]
) -> dict[str, int]:
    """The statuses of the answers to all forms about a user."""
    paths = paths_with(app, "POST", "user_id", user_id)
    assert f"/users/{user_id}/suspend" in paths
    return {path: browser.post(path, typed, page="/users/invite").status_code for path in paths}


def test_a_user_of_another_partner_is_answered_like_a_missing_one(
    app: Flask, session: Session, tenant: Tenant, other_tenant: Tenant, browser: Browser
) -> None:
    typed = edit(other_tenant.user, name="Taken")
    for identifier in (other_tenant.user.id, ABSENT):
        answers = answers_to_forms(app, browser, identifier, typed)
        assert answers == dict.fromkeys(answers, 404)
    stays = fresh(session, other_tenant.user)
    assert (stays.status, stays.name) == (UserStatus.ACTIVE, None)


def test_a_customer_admin_finds_no_staff_of_the_partner(
    app: Flask, session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    editor = tenant.staff[Role.PARTNER_EDITOR]
    admin = signed_in(tenant.staff[Role.ADMIN])
    answers = answers_to_forms(app, admin, editor.id, edit(editor))
    assert answers == dict.fromkeys(answers, 404)
    assert fresh(session, editor).status is UserStatus.ACTIVE


def test_the_users_of_an_organization_show_roles_and_send_invitations_again(
    session: Session, unlimited_tenant: Tenant, browser: Browser
) -> None:
    browser.post("/users/invite", INVITED | {"role": "owner"}, page="/users/invite")
    made = session.scalars(select(User).where(User.email == INVITED["email"])).one()
    page = unescape(browser.get(f"/organizations/{unlimited_tenant.organization.id}/users").text)
    resend = (
        f"/lists/users/actions/resend?id={made.id}&organization={unlimited_tenant.organization.id}"
    )
    assert "<td>Owner</td>" in page
    assert "<td>Member</td>" in page
    assert f'href="{resend}"' in page
    assert browser.get(resend).status_code == 200


def test_active_users_of_a_suspended_organization_are_not_shown_as_active(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    organizations.suspend(session, OPERATOR, tenant.organization.id)
    session.commit()
    pages = (
        f"/users?organization={tenant.organization.id}",
        f"/users/{tenant.user.id}",
        f"/organizations/{tenant.organization.id}/users",
    )
    for page in pages:
        assert "Organization suspended</span>" in browser.get(page).text, page
        assert "Active</span>" not in browser.get(page).text, page


def test_operators_see_to_which_partner_a_user_belongs(
    tenant: Tenant, other_tenant: Tenant, operator: Browser, browser: Browser
) -> None:
    rows = {
        email: row
        for row in re.findall(r"<tr>.*?</tr>", operator.get("/users").text, re.DOTALL)
        for email in re.findall(r"[\w.-]+@[\w.-]+", row)[:1]
    }
    for each in (tenant, other_tenant):
        admin = each.staff[Role.PARTNER_ADMIN]
        for user in (admin, each.user):
            assert each.partner.name in rows[user.email]
            assert ("Partner staff" in rows[user.email]) is (user is admin)
        assert f"Partner admin of {each.partner.name}." in operator.get(f"/users/{admin.id}").text
    assert f'<span class="cell-sub">{tenant.partner.name}</span>' not in browser.get("/users").text


def test_cancelling_an_invitation_leads_back_to_the_organization(
    tenant: Tenant, browser: Browser
) -> None:
    there = f'href="/organizations/{tenant.organization.id}/users">Cancel'
    assert there in browser.get(f"/users/invite?organization={tenant.organization.id}").text
    assert 'href="/users">Cancel' in browser.get("/users/invite").text


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.STANDARD])
def test_users_who_may_only_read_find_no_forms(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    reader = signed_in(user_of(tenant, role))
    for path in ("/users/invite", "/users/invite-many", f"/users/{tenant.user.id}/edit"):
        assert reader.get(path).status_code == 404
    if role is Role.PARTNER_EDITOR:
        page = reader.get(f"/users/{tenant.user.id}").text + reader.get("/users").text
        for word in ("Edit user", "Suspend…", "Invite user", 'name="id"'):
            assert word not in page


@pytest.mark.parametrize(
    ("page", "one", "several"),
    [
        ("/users", "dental", "northwind"),
        ("/organizations", "dental", "northwind"),
        ("/report", "dental", "northwind"),
    ],
)
def test_filtered_lists_count_matches_in_the_singular_and_the_plural(
    browser: Browser, page: str, one: str, several: str
) -> None:
    counts = [
        re.findall(r"data-announced>([^<]*match[^<]*)<", browser.get(f"{page}?q={words}").text)
        for words in (one, several)
    ]
    assert counts[0] == ["1 match"]
    assert re.fullmatch(r"[2-9] matches", *counts[1])


def test_all_users_that_match_are_suspended_with_the_page_that_lists_them(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    for number in range(30):
        make_user(
            session, tenant.partner.id, f"many{number:02d}@x.example", businessName=f"M{number}"
        )
    session.commit()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    everyone = {f"many{number:02d}@x.example" for number in range(30)}
    assert "all 30 that match" in browser.get("/users?q=many").text
    asked = browser.get(f"{SUSPEND}?q=many&all=yes").text
    assert {email for email in everyone if email in asked} == everyone
    assert tenant.user.email not in asked
    ids = re.findall(r'name="id" value="([^"]+)"', asked)
    browser.post(SUSPEND, {"id": ids}, page="/users/invite")
    session.expire_all()
    suspended = select(User.email).where(User.status == UserStatus.SUSPENDED)
    assert set(session.scalars(suspended)) == everyone


def test_users_without_a_name_are_last_in_both_orders_of_names(
    session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for number in range(3):
        make_user(session, tenant.partner.id, f"n{number}@x.example").name = f"N{number}"
    session.flush()
    blank = len(users.search(session, caller, limit=100).items) - 3

    def names(sort: str) -> list[str | None]:
        found: list[str | None] = []
        cursor = None
        while True:
            page = users.search(session, caller, sort=sort, cursor=cursor, limit=2)
            found += [user.name for user in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return found

    named = ["N0", "N1", "N2"]
    assert names("name") == [*named, *[None] * blank]
    assert names("-name") == [*named[::-1], *[None] * blank]
