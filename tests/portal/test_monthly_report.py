"""The report of a month on screen and by mail, for the portal and for one organization."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role
from app.languages.dates import format_local_date
from app.models import (
    AuditEntry,
    CallDay,
    ConversationDay,
    Mail,
    ReportSchedule,
    SpendingLimit,
    SpendingTotal,
    User,
    utcnow,
)
from app.services import assistants, mails, monthly_reports, organizations, pdf, reporting
from app.services.billing.usage import ModelRate
from app.services.branding.brand import of_partner
from app.services.branding.shades import brand_shades
from tests.fixtures.clock import SetClock
from tests.fixtures.mails import send_waiting
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
SCHEDULE = "/report/schedule"
WANTED = {
    "recipients": "ann@example.com, bob@example.com\nann@example.com",
    "day": "3",
    "hour": "8",
    "timezone": "Europe/Berlin",
}


@pytest.fixture
def admin(tenant: Tenant, signed_in: SignedIn, clock: SetClock) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


@pytest.fixture(autouse=True)
def stored_figures(session: Session, tenant: Tenant) -> None:
    """In September one organization grows from 10 to 30 conversations, another falls to 5."""
    for organization, now, before in ((tenant.organization, 30, 10), (tenant.plus, 5, 20)):
        whose = {"organization_id": organization.id, "partner_id": tenant.partner.id}
        for day, count in ((date(2026, 9, 30), now), (date(2026, 8, 1), before)):
            session.add(ConversationDay(**whose, day=day, conversations=count, seconds=60 * count))
        session.add(CallDay(**whose, day=date(2026, 9, 5), ended=10, answered=4))
    for organization in (tenant.organization, tenant.plus):
        organization.user_limit = organization.assistant_limit = 2
    session.commit()


def cells(page: str) -> list[str]:
    """The names and figures of the tables of a page."""
    link, figure = (
        r'<a class="name"[^>]*>([^<]*)</a>',
        r'phone-(?:first|sub)"[^>]*>(?:<a[^>]*>)?([^<]*)<',
    )
    found = re.findall(f"{link}|{figure}", page)
    return [unescape(name or number) for name, number in found]


def test_the_report_shows_growth_decline_and_the_answer_rate(admin: Browser) -> None:
    page = admin.get("/report/month?month=2026-09").text
    assert cells(page) == ["Northwind Bakery", "30", "Northwind Dental", "5"]
    words = unescape(page).replace("\N{NO-BREAK SPACE}", " ")
    assert "1–\u206030 Sep 2026, compared with 1–\u206030 Aug 2026." in words
    assert "40.0 %" in words
    assert "/calls?counted=yes&start=2026-09-01&end=2026-09-30" in words
    assert "Today so far" not in words


def test_the_difference_of_two_shares_is_that_of_the_shown_shares(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    """9 of 28 and 5 of 13 are 32.14 % and 38.46 %: 6.32 points, but 6.4 between what is shown."""
    whose = {"organization_id": tenant.organization.id, "partner_id": tenant.partner.id}
    session.add(CallDay(**whose, day=date(2026, 9, 6), ended=8, answered=1))
    session.add(CallDay(**whose, day=date(2026, 8, 5), ended=13, answered=5))
    session.commit()
    page = unescape(admin.get("/report/month?month=2026-09").text).replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "32.1 %" in page
    assert re.search(r"6\.4 points\D+38\.5 %", page)


def test_an_unfinished_month_is_compared_with_the_same_days(admin: Browser) -> None:
    page = unescape(admin.get("/report/month").text).replace("\N{NO-BREAK SPACE}", " ")
    assert "Today so far" in page
    assert "1–\u206015 Oct 2026, compared with 1–\u206015 Sep 2026." in page


def test_the_report_of_one_organization_names_no_other(tenant: Tenant, admin: Browser) -> None:
    page = admin.get(f"/report/month?month=2026-09&organization={tenant.organization.id}").text
    assert "Northwind Bakery" in page
    assert "Northwind Dental" not in page


def test_the_report_and_the_overview_name_the_same_organizations_near_a_limit(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.organization.user_limit = 1
    staff = tenant.caller(Role.PARTNER_ADMIN)
    assistants.add_assistant(session, staff, tenant.plus, name="Sam")
    for organization in (tenant.organization, tenant.plus):
        whose = {"partner_id": tenant.partner.id, "organization_id": organization.id}
        scope = f"organization:{organization.id}"
        session.add(SpendingLimit(**whose, scope=scope, month_minutes=10))
        session.add(SpendingTotal(**whose, scope=scope, period="2026-10", spent_seconds=500))
    session.commit()
    page = admin.get("/report/month?month=2026-09").text
    limits = re.search(r"Near a limit now</h2>.*?</section>", page, re.DOTALL)
    assert limits
    used = "A spending limit is nearly used."
    assert cells(limits[0]) == [
        *("Northwind Dental", f"2 of 2 assistants in use. {used}"),
        *("Northwind Bakery", used),
    ]
    organizations.suspend(session, OPERATOR, tenant.organization.id)
    session.commit()
    suspended = admin.get("/report/month?month=2026-09").text.partition("Near a limit now")[2]
    assert f"{used} The organization is suspended: it places no calls." in suspended
    overview = admin.get("/").text
    assert "2 of 2 assistants in use." in overview
    assert overview.count("in use.") == 1


@pytest.mark.parametrize("month", ["2026-09", "2026-10", "2025-01"])
def test_the_report_is_a_pdf(admin: Browser, month: str) -> None:
    file = admin.get(f"/report/month.pdf?month={month}")
    assert (file.mimetype, file.data[:5]) == ("application/pdf", b"%PDF-")
    named = f'attachment; filename="report-{month}.pdf"'
    assert file.headers["Content-Disposition"] == named


def test_the_report_of_a_few_organizations_fits_on_one_page_with_its_note() -> None:
    def rows(count: int, *cells: str) -> list[tuple[str, ...]]:
        return [("Kowalczyk & Daughters Roofing", *cells)] * count

    columns = ("", "November", "Month before")
    days = [(str(day), day, 31 - day) for day in range(1, 32)]
    chart = {"title": "Conversations per day", "now": "November", "before": "Month before"}
    file = pdf.render(
        "report",
        {
            "title": "Report of November 2026",
            "partner": "Larkfield",
            "product": "Larkfield",
            "colour": "#7a2e6e",
            "logo": None,
            "footer": "Larkfield",
            "subtitle": "Larkfield, 1 Nov 2026 to 30 Nov 2026 UTC",
            "chart": {**chart, "most": "Most on 3 Nov: 33", "days": days},
            "tables": [
                ("Figures", columns, rows(4, "453", "395")),
                ("Price and margin", columns[:2], rows(4, "$200.00 (100 %)")),
                ("Growing and falling", columns, rows(3, "321", "276")),
                ("Near a limit now", ("Organization", "Limit"), rows(2, "333 of 300 minutes")),
            ],
            "note": "Days are UTC. Simulated calls of campaigns and scripts are counted. " * 2,
        },
    )
    assert len(re.findall(rb"/Type\s*/Page\b", file)) == 1


@pytest.mark.parametrize(
    "address", ["?month=2026-13", "?month=x", "?month=2026-11", "?month=2001-01", "?organization=x"]
)
def test_months_without_a_report_are_not_found(admin: Browser, address: str) -> None:
    for path in ("/report/month", "/report/month.pdf"):
        assert admin.get(f"{path}{address}").status_code == 404


def test_the_oldest_report_has_no_link_to_an_older_one(admin: Browser, clock: SetClock) -> None:
    clock.set("2026-10-15T12:00:00")
    assert admin.get("/report/month?month=2024-10").status_code == 404
    oldest = admin.get("/report/month?month=2024-11")
    assert oldest.status_code == 200
    assert "month=2024-10" not in oldest.text


def test_an_organization_of_another_partner_is_not_found(
    session: Session, other_tenant: Tenant, admin: Browser
) -> None:
    for path in ("/report/month", "/report/month.pdf", SCHEDULE):
        assert admin.get(f"{path}?organization={other_tenant.organization.id}").status_code == 404
    address = f"{SCHEDULE}?organization={other_tenant.organization.id}"
    assert admin.post(address, WANTED, page=SCHEDULE).status_code == 404
    assert session.scalars(select(ReportSchedule)).all() == []


def test_a_scheduled_report_is_sent_once_a_month_to_each_address(
    session: Session, settings: Settings, tenant: Tenant, admin: Browser
) -> None:
    assert admin.post(SCHEDULE, WANTED, page=SCHEDULE).headers["Location"] == "/report/month"
    stored = session.scalars(select(ReportSchedule)).one()
    assert stored.next_at == datetime(2026, 11, 3, 7, tzinfo=UTC)
    sent = [
        monthly_reports.send_due(
            session, datetime(2026, 11, 3, hour, tzinfo=UTC), ModelRate(), session
        )
        for hour in (6, 7, 8)
    ]
    assert sent == [0, 1, 0]
    assert stored.next_at == datetime(2026, 12, 3, 7, tzinfo=UTC)
    letters = send_waiting(session, settings)
    assert [(letter.to, letter.subject) for letter in letters] == [
        ("ann@example.com", "Report of October 2026 for Northwind"),
        ("bob@example.com", "Report of October 2026 for Northwind"),
    ]
    actions = select(AuditEntry.action).where(AuditEntry.action.like("%report_scheduled"))
    assert session.scalars(actions).all() == ["partner.report_scheduled"]


def test_a_report_is_sent_once_its_month_is_over_in_utc(
    session: Session, settings: Settings, admin: Browser
) -> None:
    """8:00 on 1 November in Tokyo is 23:00 UTC on 31 October, whose calls still count."""
    at_eight = {**WANTED, "day": "1", "hour": "8", "timezone": "Asia/Tokyo"}
    admin.post(SCHEDULE, at_eight, page=SCHEDULE)
    sent = [
        monthly_reports.send_due(session, moment, ModelRate(), session)
        for moment in (datetime(2026, 10, 31, 23, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC))
    ]
    assert sent == [0, 1]
    assert {letter.subject for letter in send_waiting(session, settings)} == {
        "Report of October 2026 for Northwind"
    }
    stored = session.scalars(select(ReportSchedule)).one()
    assert stored.next_at == datetime(2026, 12, 1, tzinfo=UTC)


def test_a_user_gets_the_report_in_their_own_language_others_in_the_chosen_one(
    session: Session, settings: Settings, tenant: Tenant, admin: Browser
) -> None:
    tenant.partner.language, tenant.user.language = "es", "fr"
    editor, admin_user = tenant.staff[Role.PARTNER_EDITOR], tenant.staff[Role.PARTNER_ADMIN]
    editor.language, admin_user.language = None, "en"
    session.commit()
    people = [tenant.user.email.upper(), editor.email, admin_user.email, "ann@example.com"]
    wanted = WANTED | {"recipients": "\n".join(people), "language": "de"}
    admin.post(SCHEDULE, wanted, page=SCHEDULE)
    now = datetime(2026, 11, 3, 7, tzinfo=UTC)
    monthly_reports.send_due(session, now, ModelRate(), session)
    letters = {each.to: each for each in send_waiting(session, settings)}
    assert {to: letter.subject for to, letter in letters.items()} == {
        tenant.user.email: "Rapport mensuel pour Northwind\N{NARROW NO-BREAK SPACE}: octobre 2026",
        editor.email: "Bericht für Oktober 2026, Northwind",
        admin_user.email: "Report of October 2026 for Northwind",
        "ann@example.com": "Bericht für Oktober 2026, Northwind",
    }
    assert "Zahlen | Oktober | September" in letters["ann@example.com"].text


def test_without_a_chosen_language_the_report_is_in_the_partners(
    session: Session, settings: Settings, tenant: Tenant, admin: Browser
) -> None:
    tenant.partner.language = "de"
    session.commit()
    admin.post(SCHEDULE, WANTED | {"recipients": "ann@example.com"}, page=SCHEDULE)
    now = datetime(2026, 11, 3, 7, tzinfo=UTC)
    monthly_reports.send_due(session, now, ModelRate(), session)
    (letter,) = send_waiting(session, settings)
    assert letter.subject == "Bericht für Oktober 2026, Northwind"


def previewed(admin: Browser, query: str = "") -> tuple[str, str]:
    """Return the heading of the mail that the page shows, and to which address it is sent."""
    page = admin.get(f"{SCHEDULE}{query}").text
    (frame,) = re.findall(r'<iframe class="mail-frame[^>]* src="([^"]+)"', page)
    preview = admin.get(unescape(frame))
    assert "frame-ancestors 'self'" in preview.headers["Content-Security-Policy"]
    assert "Northwind Dental" in preview.text
    (heading,) = re.findall(r"<h1[^>]*>([^<]+)</h1>", preview.text)
    return unescape(heading), next(iter(re.findall(r"[\w.-]+@[\w.-]+", preview.text)), "")


def test_the_page_previews_the_mail_in_the_chosen_language(tenant: Tenant, admin: Browser) -> None:
    admin.post(SCHEDULE, WANTED | {"language": "de"}, page=SCHEDULE)
    shown = {query: previewed(admin, query) for query in ("", "?language=fr", "?language=xx")}
    assert shown == {
        "": ("Bericht für September 2026", "ann@example.com"),
        "?language=fr": (
            "Rapport mensuel\N{NARROW NO-BREAK SPACE}: septembre 2026",
            "ann@example.com",
        ),
        "?language=xx": ("Report of September 2026", "ann@example.com"),
    }


def test_the_page_says_who_gets_the_report_in_which_language_and_previews_each(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.user.language = "fr"
    session.commit()
    recipients = f"{tenant.user.email}\nann@example.com\nbob@example.com"
    admin.post(SCHEDULE, WANTED | {"recipients": recipients, "language": "de"}, page=SCHEDULE)
    page = unescape(admin.get(SCHEDULE).text).replace("<wbr>", "")
    assert f"As {tenant.user.email} gets it, in French, with the figures of last month." in page
    assert '<span class="list-row-text">ann@example.com, bob@example.com</span>' in page
    assert "/report/schedule?language=de&shown=de#report-preview" in page
    for of_schedule in (f"Français: {tenant.user.email}<", "Deutsch: ann@example.com, bob@exam"):
        assert f'<span class="list-row-text" dir="auto">{of_schedule}' in page
    assert previewed(admin) == (
        "Rapport mensuel\N{NARROW NO-BREAK SPACE}: septembre 2026",
        tenant.user.email,
    )
    assert previewed(admin, "?language=de&shown=de") == (
        "Bericht für September 2026",
        "ann@example.com",
    )


def test_a_schedule_without_recipients_previews_the_mail_in_the_partners_language(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.partner.language = "es"
    session.commit()
    assert "En español, con las cifras del mes pasado." in admin.get(SCHEDULE).text
    assert previewed(admin)[1] != "ada@example.com", "who is that?"


def test_the_page_names_the_subject_of_the_report(tenant: Tenant, admin: Browser) -> None:
    about = {}
    for organization in (None, tenant.organization):
        address = f"{SCHEDULE}?organization={organization.id}" if organization else SCHEDULE
        choices = admin.get(address).text.partition(' id="filter-organization"')[2]
        chosen = re.findall(r"<option[^>]* selected>(.*?)<", choices.partition("</select>")[0])
        about[address] = chosen
    assert [*about.values()] == [["The whole portal"], [tenant.organization.name]]


def test_the_organizations_of_the_choice_are_in_the_order_of_their_names(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    tenant.organization.name, tenant.plus.name = "Aalto", "Zenith"
    session.commit()
    choices = admin.get(SCHEDULE).text.partition(' id="filter-organization"')[2]
    names = re.findall(r"<option[^>]*>(.*?)<", choices.partition("</select>")[0])
    assert names == ["The whole portal", "Aalto", "Zenith"]


def test_the_page_lists_the_schedules_that_send_a_report(tenant: Tenant, admin: Browser) -> None:
    of_one = f"{SCHEDULE}?organization={tenant.plus.id}"
    admin.post(SCHEDULE, WANTED, page=SCHEDULE)
    admin.post(of_one, WANTED | {"day": "5", "recipients": "ann@example.com"}, page=of_one)
    page = unescape(admin.get(SCHEDULE).text).replace("\N{NO-BREAK SPACE}", " ")
    lines = re.findall(
        r'list-row-title">([^<]+)</span>\s*<span class="list-row-text">([^<]+)', page
    )
    assert lines == [
        ("The whole portal", "Next on 3 Nov 2026, 08:00 (Europe/Berlin)"),
        ("Northwind Dental", "Next on 5 Nov 2026, 08:00 (Europe/Berlin)"),
    ]
    assert f'class="list-row-actions" href="{of_one}">Edit' in page
    assert f'class="list-row-actions" href="{SCHEDULE}">Edit' not in page


def test_without_recipients_nothing_is_sent(session: Session, admin: Browser) -> None:
    admin.post(SCHEDULE, WANTED, page=SCHEDULE)
    admin.post(SCHEDULE, WANTED | {"recipients": "", "version": "1"}, page=SCHEDULE)
    assert session.scalars(select(ReportSchedule.next_at)).all() == [None]
    assert monthly_reports.is_any_due(session, datetime(2027, 1, 1, tzinfo=UTC)) is False


def test_a_saved_schedule_names_its_report_and_recipients(tenant: Tenant, admin: Browser) -> None:
    def saved(recipients: str, version: int, address: str = SCHEDULE) -> str:
        form = WANTED | {"recipients": recipients, "version": str(version)}
        page = admin.get(admin.post(address, form, page=address).headers["Location"]).text
        title = page.partition('<p class="result-title">')[2].partition("</p>")[0]
        return unescape(title).replace("<wbr>", "").replace("\N{NO-BREAK SPACE}", " ")

    two, four = "ann@example.com\nbob@example.com", "\n".join(f"{n}@example.com" for n in range(4))
    of_one = f"{SCHEDULE}?organization={tenant.organization.id}"
    sent = "the next report is sent on 3 Nov 2026, 08:00 (Europe/Berlin) to"
    assert [saved(two, 0), saved(four, 1), saved("", 2), saved(two, 0, of_one)] == [
        f"Schedule saved. The whole portal: {sent} ann@example.com, bob@example.com.",
        f"Schedule saved. The whole portal: {sent} 4 recipients.",
        "Schedule saved. The whole portal: no recipients, so no email is sent.",
        f"Schedule saved. Northwind Bakery: {sent} ann@example.com, bob@example.com.",
    ]


def test_a_new_schedule_is_in_the_users_own_time_zone(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    user.timezone = "Asia/Tokyo"
    session.commit()
    assert '<option selected value="Asia/Tokyo">' in signed_in(user).get(SCHEDULE).text


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"recipients": "ann"}, "“ann” isn’t an email address."),
        ({"day": "29"}, "Enter a day from 1 to 28."),
        ({"language": "xx"}, "Unknown language. Choose one of the list."),
        ({"recipients": "\n".join(f"a{n}@example.com" for n in range(21))}, "at most 20"),
    ],
)
def test_an_invalid_schedule_is_refused(
    session: Session, admin: Browser, wrong: dict[str, str], words: str
) -> None:
    refused = admin.post(SCHEDULE, WANTED | wrong, page=SCHEDULE)
    assert refused.status_code == 422
    assert words in refused.text
    assert session.scalars(select(ReportSchedule)).all() == []


def test_a_refused_schedule_counts_as_unsaved(admin: Browser) -> None:
    assert "data-unsaved>" in admin.get(SCHEDULE).text
    refused = admin.post(SCHEDULE, WANTED | {"recipients": "nonsense"}, page=SCHEDULE).text
    assert 'data-unsaved="refused"' in refused


def test_a_test_mail_goes_to_the_user_alone_and_shows_last_month(
    session: Session, settings: Settings, tenant: Tenant, admin: Browser
) -> None:
    address = f"{SCHEDULE}/test?organization={tenant.organization.id}"
    admin.post(address, page=SCHEDULE)
    mail = session.scalars(select(Mail).where(Mail.kind == "monthly_report")).one()
    assert {name: value for name, value in mail.details.items() if name != "paper"} == {
        "name": "Northwind Bakery",
        "month": "September 2026",
        "start": "2026-09-01",
        "organizationId": str(tenant.organization.id),
        "figures": [
            ["Conversations", "30", "10"],
            ["With a person", "0", "0"],
            ["Talk time (minutes)", "30", "10"],
            ["Calls answered", "40.0\N{NO-BREAK SPACE}%", "–"],
        ],
        "growing": [],
        "falling": [],
        "near": [],
        "language": "en",
    }
    (letter,) = [each for each in send_waiting(session, settings) if "Report of" in each.subject]
    assert letter.to == tenant.staff[Role.PARTNER_ADMIN].email
    assert "Conversations | 30 | 10" in letter.text


def test_the_mail_has_the_conversations_of_each_week_as_bars_in_the_brands_colour(
    session: Session, settings: Settings, tenant: Tenant, admin: Browser
) -> None:
    admin.post(f"{SCHEDULE}/test?organization={tenant.organization.id}", page=SCHEDULE)
    (letter,) = [each for each in send_waiting(session, settings) if "Report of" in each.subject]
    assert "Conversations by week | September | August\n1–7 Sep | 0 | 10\n" in letter.text
    assert "29–30 Sep | 30 | 0" in letter.text
    colour = brand_shades(of_partner(tenant.partner).colour).light.chart
    fill = r'<td class="fill"[^>]* width="([^"]+)"[^>]*background-color: ([^;]+);'
    bars = re.findall(fill, letter.html)
    assert bars == [("100%", colour)]


def test_the_pdf_of_the_running_month_says_so_and_when_it_was_created(
    session: Session, tenant: Tenant
) -> None:
    now = utcnow().date()
    report = reporting.monthly(session, tenant.caller(Role.PARTNER_ADMIN), now, now)
    parts = monthly_reports.pdf_content(report, None, "Northwind", has_model=False)
    assert "(today so far), compared with" in parts["subtitle"]
    assert parts["note"].endswith(f"Created on {format_local_date(now, 'yMMMd')}.")


def test_on_the_first_day_of_a_month_page_and_pdf_show_the_whole_month_before(
    session: Session, tenant: Tenant, admin: Browser, clock: SetClock
) -> None:
    clock.set("2026-10-01T01:00")
    organization_id, staff = tenant.organization.id, tenant.caller(Role.PARTNER_ADMIN)
    page = admin.get(f"/report/month?organization={organization_id}").text
    assert "No calls in" not in page
    assert 'data-chart="line"' in page
    today = utcnow().date()
    report = reporting.monthly(session, staff, today, today, organization_id)
    chart = monthly_reports.pdf_content(report, None, "Northwind", has_model=False)["chart"]
    assert chart
    assert len(chart["days"]) == 31
    assert chart["days"][28:] == [("29", 0, 0), ("30", 0, 30), ("31", 0, 0)]


def test_the_mail_has_the_report_as_a_pdf_in_its_language(
    session: Session, tenant: Tenant, admin: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant.staff[Role.PARTNER_ADMIN].language = "de"
    session.commit()
    admin.post(f"{SCHEDULE}/test", page=SCHEDULE)
    mail = session.scalars(select(Mail).where(Mail.kind == "monthly_report")).one()
    report = mails.pdf_of(session, mail.id)
    assert report
    (file,) = report.attached()
    assert (file.name, file.content[:5]) == ("report-2026-09.pdf", b"%PDF-")
    assert report.data["title"] == "Bericht für September 2026"
    assert "today so far" not in report.data["subtitle"]
    monkeypatch.setattr("app.services.mails.attaching.MAX_OCTETS", 1000)
    assert report.attached() == ()
    monkeypatch.setattr(pdf, "is_installed", lambda: False)
    assert mails.pdf_of(session, mail.id) is None


def test_members_of_an_organization_can_open_the_link_of_its_report(
    session: Session, settings: Settings, tenant: Tenant, admin: Browser, signed_in: SignedIn
) -> None:
    admin.post(f"{SCHEDULE}/test?organization={tenant.organization.id}", page=SCHEDULE)
    (letter,) = [each for each in send_waiting(session, settings) if "Report of" in each.subject]
    (link,) = set(re.findall(r"http://[^/]+(/usage[^\s\"]+)", letter.text))
    page = signed_in(tenant.user).get(link)
    assert page.status_code == 200
    assert 'name="end" value="2026-09-30"' in page.text


def test_an_editor_reads_the_report_and_does_not_schedule_it(
    tenant: Tenant, signed_in: SignedIn, clock: SetClock
) -> None:
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    assert "Schedule emails" not in editor.get("/report/month").text
    assert editor.get(SCHEDULE).status_code == 404
    assert signed_in(tenant.user).get("/report/month").status_code == 404
