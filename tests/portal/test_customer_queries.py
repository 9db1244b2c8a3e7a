"""The lists of customers cost the same queries with one page of rows and with many."""

from collections.abc import Callable

from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.models import User, utcnow
from app.services import assistants, campaigns, do_not_call
from tests.fixtures.cast import Tenant, make_user
from tests.fixtures.statements import counted
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call

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
    session: Session, database: Database, own: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(own.staff[Role.PARTNER_ADMIN])

    def count() -> dict[str, int]:
        queries = {}
        for path in PATHS:
            with counted(database.engine) as statements:
                answer = browser.get(path.format(own.organization.id))
            assert answer.status_code == 200
            queries[path] = len(statements)
        return queries

    grow(session, own, 0)
    count()
    few = count()
    grow(session, own, 26)
    assert count() == few


MAX_QUERIES = {
    "/": 6,
    "/organizations": 5,
    "/organizations/{organization}": 7,
    "/organizations/{organization}/users": 7,
    "/organizations/{organization}/usage": 7,
    "/organizations/{organization}/edit": 3,
    "/organizations/new": 5,
    "/users": 5,
    "/users/{user}": 7,
    "/assistants": 4,
    "/assistants/{assistant}": 13,
    "/campaigns": 5,
    "/campaigns/{campaign}": 5,
    "/campaigns/{campaign}/uploads": 5,
    "/calls": 5,
    "/calls/{call}": 6,  # one of them for the calls that were placed again after it
    "/usage": 6,
    "/usage?organization={organization}": 10,
    "/calls?organization=plus": 6,
    "/report": 6,
    "/report/month": 14,
    "/audit": 6,
    "/audit?target=plus": 6,
    "/do-not-call?q=plus": 5,
    "/costs": 15,
    "/settings": 10,
    "/account": 6,
    "/branding": 12,
}
"""The queries that a page may take."""


def test_pages_take_few_queries(
    session: Session, database: Database, own: Tenant, signed_in: SignedIn
) -> None:
    grow(session, own, 0)
    call = make_call(session, own.organization, "+12025550199", utcnow())
    caller = own.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, caller, own.organization.id, name="Spring")
    ids = {
        "organization": own.organization.id,
        "user": own.plus_user.id,
        "assistant": call.assistant_id,
        "campaign": campaign.id,
        "call": call.id,
    }
    session.commit()
    browser = signed_in(own.staff[Role.PARTNER_ADMIN])
    taken = {}
    for path in MAX_QUERIES:
        browser.get(path.format(**ids))
        with counted(database.engine) as statements:
            answer = browser.get(path.format(**ids))
        assert answer.status_code == 200, path
        taken[path] = sum(each.lstrip().startswith("SELECT") for each in statements)
    assert {path: count for path, count in taken.items() if count > MAX_QUERIES[path]} == {}
