"""Mails of the running product, as an administrator reads them in its outbox."""

from itertools import count

from playwright.sync_api import Locator, expect

from tests.e2e.visits import Visit

PATIENCE = 60


def mails(administrator: Visit, subject: str, email: str) -> Locator:
    """Return the mails to the address that the outbox lists now, newest first."""
    administrator.page.goto("/outbox")
    rows = administrator.page.get_by_role("row")
    return rows.filter(has_text=email).filter(has_text=subject)


def open_mail(administrator: Visit, subject: str, email: str, *, known: int = 0) -> None:
    """Open the newest mail to the address, once the worker has written more than the ``known``
    ones."""
    page = administrator.page
    for attempt in count():
        rows = mails(administrator, subject, email)
        if rows.count() > known:
            break
        assert attempt < PATIENCE, "the mail does not come"
        page.wait_for_timeout(250)
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(subject)
