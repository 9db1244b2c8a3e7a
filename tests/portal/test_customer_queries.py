"""The lists of customers cost the same queries with one page of rows and with many."""

from collections.abc import Callable, Iterable
from uuid import UUID

from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.models import User, utcnow
from app.services import assistants, campaigns, do_not_call
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant, make_tenant, make_user
from tests.fixtures.uploads import number as phone
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call
from tests.portal.uploader import Uploader

SignedIn = Callable[[User], Browser]


def grow(session: Session, tenant: Tenant, start: int) -> None:
    """More of everything, over a page of each."""
    caller = tenant.caller(Role.PARTNER_ADMIN)
    tenant.organization.assistant_limit = 0
    for number in range(start, start + 26):
        make_user(session, tenant.partner.id, f"u{number}@x.example", businessName=f"B{number}")
        do_not_call.add(session, caller, tenant.organization.id, f"+1202555{100 + number:04d}")
        made = assistants.add_assistant(
            session, caller, tenant.organization, name=f"Robin {number}"
        )
        assistants.configure_assistant(
            session, caller, made, phone_number=f"+1202555{100 + number:04d}"
        )
    session.commit()


PATHS = (
    "/organizations",
    "/organizations?q=b&use=near",
    "/users?q=example",
    "/do-not-call",
    "/numbers",
    "/organizations/{}",
    "/organizations/{}/users",
    "/organizations/{}/assistants",
    "/organizations/{}/settings",
    "/organizations/{}/do-not-call",
)


def test_a_list_takes_the_same_queries_for_few_and_for_many(
    session: Session, database: Database, tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])

    def count() -> dict[str, int]:
        queries = {}
        for path in PATHS:
            with counted(database.engine) as statements:
                answer = browser.get(path.format(tenant.organization.id))
            assert answer.status_code == 200
            queries[path] = len(statements)
        return queries

    grow(session, tenant, 0)
    count()
    few = count()
    grow(session, tenant, 26)
    assert count() == few


def test_an_operators_list_takes_the_same_queries_for_few_and_for_many_partners(
    session: Session, database: Database, operator: Browser
) -> None:
    def count() -> list[int]:
        taken = []
        for path in ("/organizations", "/assistants/new"):
            operator.get(path)
            with counted(database.engine) as statements:
                assert operator.get(path).status_code == 200
            taken.append(len(statements))
        return taken

    make_tenant(session, "Adatum")
    session.commit()
    few = count()
    for name in ("Contoso", "Fabrikam"):
        make_tenant(session, name)
    session.commit()
    assert count() == few


MAX_QUERIES = 6
"""Including those of the session and of the frame of the page."""
PAGES = (
    *("/", "/organizations", "/organizations/new", "/organizations/{organization}"),
    *(
        f"/organizations/{{organization}}/{tab}"
        for tab in (
            *("users", "assistants", "campaigns", "usage", "spending", "settings"),
            *("do-not-call", "activity", "edit", "plan", "budget"),
        )
    ),
    *("/users", "/users/{user}", "/users/{user}/edit"),
    *("/assistants", "/assistants/{assistant}", "/assistants/{assistant}/edit"),
    *("/campaigns", "/campaigns/{campaign}", "/campaigns/{campaign}/settings"),
    *("/campaigns/{campaign}/uploads", "/campaigns/{campaign}/contacts/new"),
    *("/campaigns/{campaign}/outreach", "/campaigns/{campaign}/outreach/plan"),
    *("/campaigns/{campaign}/contacts/{contact}/edit", "/settings/directory"),
    *("/campaigns/{campaign}/contacts/{contact}/do-not-call", "/users?sort=name"),
    "/assistants/new?organization={organization}",
    *("/calls", "/calls/{call}", "/calls?organization=plus", "/test-call"),
    *("/usage", "/usage?organization={organization}", "/report", "/report/month"),
    *("/report/schedule", "/alerts", "/notifications", "/audit", "/audit?target=plus"),
    *("/do-not-call?q=plus", "/numbers", "/carriers/accounts", "/storage"),
    *("/costs", "/costs/{organization}", "/statements/{organization}", "/pricing"),
    *("/pricing/limits", "/pricing/plans/customerFreePlan", "/settings", "/settings/spending"),
    *("/settings/spending/budget", "/account", "/account/factors", "/access/why", "/branding"),
    *("/branding/surfaces", "/branding/contrast", "/branding/history", "/overview/earnings"),
    *("/users/{user}/data", "/calls/{call}/data", "/access/why?user={user}"),
    "/campaigns/{campaign}/contacts/{contact}/data",
)
PAGES_OF_OPERATORS = (
    *(
        f"/organizations/{{organization}}/{tab}"
        for tab in ("assistants", "settings", "activity", "plan")
    ),
    *("/users/{user}", "/access/why?user={user}", "/partners/{partner}/suspend"),
    *("/operator/storage", "/operator/spending"),
)
MORE_QUERIES = {
    # Calls: an assistant's readiness, calls, campaigns and changes; whether a call is allowed now.
    "/assistants/{assistant}": 11,
    "/test-call": 8,
    # A form that shows the assistants, their external ids and the latest changes.
    "/campaigns/{campaign}/settings": 7,
    # Money: statements, subscriptions, usage and carriers' charges are tables of their own.
    "/organizations/{organization}/spending": 8,
    "/settings/spending": 7,
    "/usage?organization={organization}": 9,
    "/report/month": 10,
    "/costs": 9,
    "/costs/{organization}": 13,
    "/pricing": 8,
}
"""The pages that take more than `MAX_QUERIES`, and how many."""


def test_pages_take_few_queries(
    session: Session, database: Database, tenant: Tenant, signed_in: SignedIn
) -> None:
    grow(session, tenant, 0)
    call = make_call(session, tenant.organization, "+12025550199", utcnow())
    caller = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, caller, tenant.organization.id, name="Spring")
    fields = ContactFields("Ada", "Marlow", "+12025550198")
    ids = {
        "contact": single_contact.add(session, caller, campaign.id, fields),
        "organization": tenant.organization.id,
        "user": tenant.plus_user.id,
        "assistant": call.assistant_id,
        "campaign": campaign.id,
        "call": call.id,
    }
    session.commit()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    exceeding = {
        path: count
        for path, count in queries_of(browser, database, PAGES, ids).items()
        if count > MORE_QUERIES.get(path, MAX_QUERIES)
    }
    assert exceeding == {}


def test_pages_of_operators_take_few_queries(
    session: Session, database: Database, tenant: Tenant, operator: Browser
) -> None:
    grow(session, tenant, 0)
    ids = {
        "partner": tenant.partner.id,
        "organization": tenant.organization.id,
        "user": tenant.plus_user.id,
    }
    taken = queries_of(operator, database, PAGES_OF_OPERATORS, ids)
    assert {path: count for path, count in taken.items() if count > MAX_QUERIES} == {}


def test_pages_of_members_take_few_queries(
    session: Session, database: Database, tenant: Tenant, signed_in: SignedIn
) -> None:
    grow(session, tenant, 0)
    make_call(session, tenant.organization, "+12025550199", utcnow())
    session.commit()
    # Action items, steps, calls and usage; a plan may be that of an ended subscription.
    most = {"/calls": MAX_QUERIES, "/plan": 7, "/": 10}
    taken = queries_of(signed_in(tenant.user), database, most, {})
    assert {path: count for path, count in taken.items() if count > most[path]} == {}


def test_pages_of_an_upload_take_few_queries(database: Database, uploader: Uploader) -> None:
    checked = uploader.upload(f"Name,Phone\nAnn,{phone(1)}\nBob,12\n")
    applied = uploader.applied(f"Name,Phone\nCy,{phone(3)}\n")
    # Rows, problems and changes are tables of their own, and contacts are found as in applying.
    most = {
        f"{checked}/columns": MAX_QUERIES,
        f"{applied}/delete-data": MAX_QUERIES,
        applied: 11,
        checked: 13,
        f"{applied}/undo": 14,
    }
    taken = queries_of(uploader.browser, database, most, {})
    assert {path: count for path, count in taken.items() if count > most[path]} == {}


def queries_of(
    browser: Browser, database: Database, paths: Iterable[str], ids: dict[str, UUID]
) -> dict[str, int]:
    """Return how many queries each page takes when it is opened again."""
    taken = {}
    for path in paths:
        browser.get(path.format(**ids))
        with counted(database.engine) as statements:
            answer = browser.get(path.format(**ids))
        assert answer.status_code == 200, path
        taken[path] = sum(each.lstrip().startswith("SELECT") for each in statements)
    return taken
