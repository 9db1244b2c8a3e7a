"""The monthly report of an organization: scheduled, looked at in each language, tried by mail."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from babel.dates import format_date
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.models import User
from tests.e2e.conftest import Open
from tests.e2e.outbox import mails, open_mail
from tests.e2e.scripts import new_organization
from tests.e2e.tasks import beside
from tests.fixtures.stack import Stack

Partner = dict[str, Any]

DAY, HOUR, ZONE = 28, 7, "Europe/Berlin"


def french_reader(stack: Stack, partner: Partner) -> str:
    """The email of a new user of the partner who reads French."""
    organization = UUID(new_organization(stack, partner))
    with beside(stack) as worker, worker.database.transaction() as session:
        user = session.scalars(select(User).where(User.organization_id == organization)).one()
        user.language = "fr"
        return user.email


def next_report() -> datetime:
    """The next 28th at 7:00 in Berlin, in UTC."""
    now, at = datetime.now(UTC), datetime.now(ZoneInfo(ZONE)).replace(day=DAY, hour=HOUR)
    at = at.replace(minute=0, second=0, microsecond=0)
    if at <= now:
        at = (at.replace(day=1) + timedelta(days=31)).replace(day=DAY)
    return at.astimezone(UTC)


def last_month(language: str) -> str:
    last = datetime.now(UTC).date().replace(day=1) - timedelta(days=1)
    return format_date(last, "LLLL 'de' y" if language == "es" else "LLLL y", language)


def letter(page: Page) -> list[str]:
    """The lines of the mail in the page's frame, without that which names its reader."""
    words = page.frame_locator("iframe.mail-frame").locator("body").inner_text()
    return [line for line in words.splitlines() if line.strip() and "@" not in line]


def test_a_report_is_scheduled_and_its_test_mail_is_what_the_preview_shows(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    organization, admin = partner["organizations"][1], partner["users"][0]
    french = french_reader(shared_stack, partner)
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(admin, then="/report/schedule")
    page.get_by_label("Report about").select_option(label=organization["name"])
    if not script:
        page.get_by_role("button", name="Show").click()
    about = page.get_by_text(f"The report of the last month of {organization['name']}, by email")
    expect(about).to_be_visible()

    page.get_by_label("Recipients").fill("ada@hillside.example\nben at hillside")
    page.get_by_label("Day of the month").select_option(str(DAY))
    page.get_by_label("Hour").select_option(f"{HOUR:02}:00")
    page.get_by_label("Time zone").select_option(ZONE)
    page.get_by_label("Language").select_option("es")
    if script:
        expect(page.locator("#report-preview")).to_contain_text("In Spanish, with the figures")
    page.get_by_role("button", name="Save schedule").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "Recipients: “ben at hillside” isn’t an email address."
    )
    expect(page.get_by_label("Recipients")).to_have_value("ada@hillside.example\nben at hillside")
    assert visit.faults(script) == []

    page.get_by_label("Recipients").fill(f"ada@hillside.example\n{french}")
    page.get_by_role("button", name="Save schedule").click()
    expect(page.locator(".result")).to_contain_text("Schedule saved.")
    at = next_report()
    page.get_by_role("link", name=f"Schedule: {at.day} {at:%b %Y}").click()
    expect(page.get_by_text("The next report is sent on")).to_have_text(
        f"The next report is sent on {at.day} {at:%b %Y}, {HOUR:02}:00 ({ZONE})."
    )
    chosen = [
        page.get_by_label(name).input_value()
        for name in ("Day of the month", "Hour", "Time zone", "Language")
    ]
    assert chosen == [str(DAY), str(HOUR), ZONE, "es"]

    preview = page.locator("#report-preview")
    expect(preview).to_contain_text("As ada@hillside.example gets it, in Spanish")
    heading = page.frame_locator("iframe.mail-frame").get_by_role("heading", level=1)
    expect(heading).to_have_text(f"Informe de {last_month('es')}")
    spanish = letter(page)
    assert visit.faults(script) == []
    preview.get_by_role("listitem").filter(has_text="Français").get_by_role("link").click()
    expect(preview).to_contain_text(f"As {french} gets it, in French")
    expect(heading).to_have_text(f"Rapport mensuel : {last_month('fr')}")

    subject = f"Informe de {last_month('es')} para {organization['name']}"
    known = mails(visit, subject, admin["email"]).count()
    page.goto(f"/report/schedule?organization={organization['id']}")
    page.get_by_role("button", name="Send test email").click()
    expect(page.locator("#test-sent")).to_contain_text(
        "The report of last month is on its way to you."
    )
    open_mail(visit, subject, admin["email"], known=known)
    assert letter(page) == spanish

    page.goto(f"/report/schedule?organization={organization['id']}")
    page.get_by_label("Recipients").fill("")
    page.get_by_role("button", name="Save schedule").click()
    expect(page.get_by_role("link", name="Schedule emails")).to_be_visible()
