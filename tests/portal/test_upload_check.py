"""The check screen's warnings about a file before anything is done: who is not called, and how the
file was read."""

import re
from datetime import time

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import (
    Campaign,
    Contact,
    DoNotCallEntry,
    Organization,
    Outreach,
    PartnerDestinations,
    utcnow,
)
from app.services import assistants, outreach
from tests.files.corpus.workbooks import xlsx
from tests.files.workbooks import inline_row, sheet_xml, workbook_bytes
from tests.fixtures.tenants import Tenant
from tests.fixtures.uploads import number
from tests.portal.uploader import Uploader, heading, words

ANN, BOB, CY = number(1), number(2), number(3)


def test_people_who_asked_not_to_be_called_are_counted_shown_and_mapped(uploader: Uploader) -> None:
    address = uploader.upload(f"Name,Phone,DNC\nAnn,{ANN},Yes\nBob,{BOB},ask first\nCy,{CY},No\n")
    shown = uploader.shows(address)
    assert "Asked not to be called 1" in shown
    assert "Perhaps asked not to be called 1" in shown
    of_them = uploader.shows(f"{address}?note=do_not_call&rows=all")
    assert "Asked not to be called: kept, and not called." in of_them
    assert BOB not in of_them
    columns = uploader.browser.get(f"{address}/columns").text
    assert '<option value="doNotCall" selected>Do not call</option>' in columns


def test_the_check_says_that_new_contacts_of_a_running_campaign_will_be_called(
    uploader: Uploader, session: Session, tenant: Tenant
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    [speaker] = assistants.of_organization(session, caller, tenant.organization.id)
    plan = outreach.CampaignPlan(
        speaker.id, intro_message="Hello.", voicemail_message="Call us back."
    )
    session.get_one(Campaign, uploader.campaign_id).all_assistants = True
    outreach.change_plan(session, caller, uploader.campaign_id, plan, max_at_once=20)
    session.commit()
    removing = uploader.shows(uploader.upload(f"Phone\n{CY}\n", "out.csv", action="remove"))
    assert "Step 2 of 3: Check 3 Remove contacts" in removing
    running = "The campaign calls new contacts"
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    assert running not in uploader.shows(address)
    outreach.start(session, caller, uploader.campaign_id)
    always = {"hours_start": time(), "hours_end": time(), "weekdays": "1234567"}
    session.execute(update(Outreach).values(always))
    session.commit()
    soon = f"{running} 2 new contacts are called as soon as the plan allows"
    assert f"{soon}, the first perhaps within seconds." in uploader.shows(address)
    other_day = str((utcnow().isoweekday() + 2) % 7 + 1)
    session.execute(update(Outreach).values(weekdays=other_day))
    session.commit()
    assert f"{soon}." in uploader.shows(address)
    assert running not in uploader.shows(
        uploader.upload(f"Phone\n{CY}\n", "out.csv", action="remove")
    )


def test_a_number_that_is_not_in_use_is_no_good_row(uploader: Uploader) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,0301234567\n")
    shown = uploader.shows(address)
    assert (
        "1 number is not in use No one has such a number in its country. The contacts are added, "
        "but campaigns don’t call them. Check the digits." in shown
    )
    assert "1 good row and 1 row with a number not in use can be applied now." in shown


def test_a_number_on_the_do_not_call_list_gets_a_note(uploader: Uploader, session: Session) -> None:
    campaign = session.get_one(Campaign, uploader.campaign_id)
    session.add(
        DoNotCallEntry(
            partner_id=campaign.partner_id,
            organization_id=campaign.organization_id,
            phone=BOB,
            added_by="Ann",
        )
    )
    session.commit()
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    message = uploader.shows(address)
    assert "All 2 rows can be applied" in message
    assert "On the do-not-call list 1" in message
    assert "This number is on the do-not-call list, so it won’t be called." in message


def test_contacts_of_a_closed_country_are_counted_before_and_after_applying(
    uploader: Uploader, session: Session
) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,+4930901820\nCy,+4930901821\n")
    warning = "2 contacts won’t be called Germany isn’t open for calls. Call destinations"
    assert warning in uploader.shows(address)
    uploader.press(address, "apply")
    uploader.work(address)
    assert warning in uploader.shows(address)
    campaign = session.get_one(Campaign, uploader.campaign_id)
    session.merge(PartnerDestinations(partner_id=campaign.partner_id, regions=["DE"]))
    session.execute(update(Organization).values(allowed_regions=["US", "DE"]))
    session.commit()
    assert "won’t be called" not in uploader.shows(address)


@pytest.mark.parametrize(
    "name", ["Mobile (work)", "Handy der Kundin", "Tel. Praxis", "Móvil del cliente", "my_phone"]
)
def test_a_column_with_a_word_for_phone_and_phone_numbers_is_the_phone(
    uploader: Uploader, name: str
) -> None:
    message = uploader.shows(uploader.upload(f"First,{name},Mail\nAnn,{ANN},ann@x.example\n"))
    assert "1 row can be applied" in message
    assert "No column is the phone number" not in message
    assert "No phone to call" not in message


@pytest.mark.parametrize(
    ("name", "value"), [("Mobile plan", "XL"), ("Emergency phone", BOB), ("Reference", BOB)]
)
def test_a_file_without_a_phone_column_is_warned_of_at_the_top(
    uploader: Uploader, name: str, value: str
) -> None:
    message = uploader.shows(uploader.upload(f"First,{name},Mail\nAnn,{value},ann@x.example\n"))
    warning = "No column is the phone number 1 new contact can’t be called."
    assert message.index(warning) < message.index("Would be created")


@pytest.mark.parametrize("name", ["Nachname, Vorname", "Last name, first name", "Nom, Prénom"])
def test_a_column_of_last_and_first_names_with_a_comma_is_the_name(
    session: Session, uploader: Uploader, name: str
) -> None:
    uploader.applied(f'Note,"{name}",Phone\nVIP,"Groß, Jürgen",{ANN}\n')
    contact = session.scalars(select(Contact)).one()
    assert (contact.first_name, contact.last_name) == ("Jürgen", "Groß")


def test_a_file_whose_columns_have_no_name_says_so_at_the_top(uploader: Uploader) -> None:
    message = uploader.shows(uploader.upload(f"Note,Whom,Phone\nVIP,Ann,{ANN}\n"))
    assert message.index("No column is the name") < message.index("Would be created")
    assert "No column is the name" not in uploader.shows(uploader.upload(f"Phone\n{BOB}\n"))


def test_a_phone_column_by_its_whole_name_is_the_only_one(uploader: Uploader) -> None:
    message = uploader.shows(uploader.upload(f"Name,Phone,Wife's mobile\nAnn,{ANN},{BOB}\n"))
    assert "1 row can be applied" in message
    assert "Other phone kept as metadata" not in message


def test_rows_that_change_nothing_are_counted_apart_from_the_updated_ones(
    uploader: Uploader,
) -> None:
    uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nRob,{BOB}\nRob,{BOB}\n")
    message = uploader.shows(address)
    assert "Would be updated 1 Unchanged 2 Would be deleted 0" in message
    assert "0 + 1 + 2 + 0 + 0 + 0 = 3 rows in the file." in message


def test_rows_that_change_nothing_are_no_changes_to_apply(uploader: Uploader) -> None:
    uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    same = uploader.shows(uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\nNo Number,\n"))
    assert "Nothing to apply: 2 contacts are unchanged. Cancel upload" in same
    assert "Apply 2" not in same
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nRob,{BOB}\n")
    shown = uploader.shows(address)
    assert "1 change can be applied now, 1 contact unchanged." in shown
    assert "Apply 1 change" in shown
    uploader.press(address, "apply")
    uploader.work(address)
    assert heading(uploader.browser.get(address)) == "1 change applied"


def test_the_counts_of_updated_and_unchanged_rows_lead_to_just_those_rows(
    uploader: Uploader,
) -> None:
    uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nRob,{BOB}\n")
    updated, unchanged = (
        uploader.shows(f"{address}?rows={rows}") for rows in ("updated", "unchanged")
    )
    assert "Contacts to update Show all rows" in updated
    assert "Row 3 of the file, 1 of 1" in updated
    assert "Row 2 of the file" not in updated
    assert "Unchanged contacts Show all rows" in unchanged
    assert "Row 2 of the file, 1 of 1" in unchanged
    assert "Row 3 of the file" not in unchanged


def test_the_same_contact_twice_in_a_file_is_named_as_a_duplicate(uploader: Uploader) -> None:
    shown = uploader.shows(uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\nAnna,{ANN}\n"))
    assert (
        "Duplicate in this file: 1 The values of the last row win. Row 4: The same contact as row "
        "2, which it updates. Keep row 2 Keep row 4 Show duplicates" in shown
    )
    assert "Would be updated 1 Would be deleted 0" in shown


def test_a_row_that_repeats_another_one_word_for_word_changes_nothing(uploader: Uploader) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\nAnn,{ANN}\n")
    shown = uploader.shows(address)
    assert "Would be created 2 Would be updated 0 Unchanged 1" in shown
    assert "Row 4: Repeats row 2 and changes nothing. Show duplicates" in shown
    uploader.press(address, "apply")
    uploader.work(address)
    assert "The same figures as on the check screen." in uploader.shows(address)


@pytest.mark.parametrize("between", [1, 1200])
def test_a_file_with_a_contact_twice_changes_nothing_when_it_is_uploaded_again(
    uploader: Uploader, between: int
) -> None:
    others = "".join(f"Bob,{number(10 + index)}\n" for index in range(between))
    data = f"Name,Phone\nAnn,{ANN}\n{others}Anna,{ANN}\n"
    uploader.applied(data)
    address = uploader.upload(data)
    shown = uploader.shows(address)
    rows = f"{between + 2:,}"
    assert f"Would be created 0 Would be updated 0 Unchanged {rows} Would be deleted 0" in shown
    assert f"Nothing to apply: {rows} contacts are unchanged." in shown
    unchanged = uploader.shows(f"{address}?rows=unchanged")
    assert f"Rows 2 to {min(between + 3, 26)} of the file" in unchanged


def test_rows_that_undo_each_other_are_counted_as_unchanged_when_they_are_applied(
    uploader: Uploader,
) -> None:
    uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = uploader.upload(f"Name,Phone\nAnna,{ANN}\nRob,{BOB}\nAnn,{ANN}\n")
    assert "Would be updated 1 Unchanged 2" in uploader.shows(address)
    uploader.press(address, "apply")
    uploader.work(address)
    assert "The same figures as on the check screen." in uploader.shows(address)


def test_a_row_repeats_another_one_however_far_above_it_is(uploader: Uploader) -> None:
    others = "".join(f"Bob,{number(10 + index)},\n" for index in range(1200))
    row = f"Ann,{ANN},Ann@example.com\n"
    shown = uploader.shows(uploader.upload(f"Name,Phone,Email\n{row}{others}{row}"))
    assert "Row 1,203: Repeats row 2 and changes nothing." in shown


@pytest.mark.parametrize(("left_out", "kept"), [("4", "Ann"), ("2", "Anna")])
def test_one_of_two_rows_about_the_same_contact_is_kept(
    uploader: Uploader, session: Session, left_out: str, kept: str
) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\nAnna,{ANN}\n")
    page = uploader.browser.get(address).text
    offered = re.findall(r'name="left_out" value="(\d)"[^>]*>(Keep row \d)<', page)
    assert offered == [("4", "Keep row 2"), ("2", "Keep row 4")]
    version = str(uploader.now(address).check_number)
    uploader.browser.post(
        f"{address}/rows", {"left_out": left_out, "version": version}, page=address
    )
    uploader.work(address)
    shown = uploader.shows(address)
    assert "Duplicate" not in shown
    assert f"{left_out} Left out" in shown
    uploader.press(address, "apply")
    uploader.work(address)
    assert [name for name, *_ in contacts(session)] == [kept, "Bob"]


@pytest.mark.parametrize(("repeated", "buttons"), [(2, 4), (3, 0)])
def test_more_than_two_pairs_of_rows_are_decided_on_their_own_page(
    uploader: Uploader, repeated: int, buttons: int
) -> None:
    rows = "".join(f"Ann{row},{ANN}\n" for row in range(repeated + 1))
    page = uploader.browser.get(uploader.upload(f"Name,Phone\n{rows}")).text
    assert len(re.findall(r'name="left_out" value="\d"[^>]*>Keep row \d<', page)) == buttons
    assert "Show duplicates</a>" in page


def test_a_row_with_a_note_is_fixed_on_the_page(uploader: Uploader, session: Session) -> None:
    address = uploader.upload(f"Name,Phone\nAnn,{ANN}\nBob,0301234567\n")
    shown = uploader.browser.get(f"{address}?note=implausible_phone").text
    assert 'aria-label="Leave out row 3"' in shown
    assert re.findall(r'name="(cell-[^"]+)" value="([^"]*)"', shown) == [("cell-3-1", "0301234567")]
    sent = {"cell-3-1": BOB, "version": str(uploader.now(address).check_number)}
    uploader.browser.post(f"{address}/rows", sent, page=address)
    uploader.work(address)
    assert "2 good rows can be applied now." in uploader.shows(address)


def chosen(uploader: Uploader, address: str) -> list[str]:
    """What each column becomes, as the page of columns shows it."""
    return re.findall(
        r'<option value="([^"]*)" selected>',
        uploader.browser.get(f"{address}/columns").text.partition("File settings")[0],
    )


def contacts(session: Session) -> list[tuple[str | None, str | None, str | None, object]]:
    rows = session.scalars(select(Contact).order_by(Contact.phone))
    return [(row.first_name, row.last_name, row.phone, row.contact_metadata) for row in rows]


def test_names_in_a_file_without_column_names_are_recognized_and_can_be_changed(
    uploader: Uploader, session: Session
) -> None:
    address = uploader.upload(
        f"Hove,Ann Lee,{ANN}\nHove,José de la Cruz,{BOB}\nHove,Cy O’Neil,{CY}\n"
    )
    assert chosen(uploader, address) == ["metadata:Column A", "fullName", "phone"]
    uploader.press(address, "apply")
    uploader.work(address)
    hove = {"Column A": "Hove"}
    assert contacts(session) == [
        ("Ann", "Lee", ANN, hove),
        ("José", "de la Cruz", BOB, hove),
        ("Cy", "O’Neil", CY, hove),
    ]


def test_the_values_of_a_row_name_their_columns_for_phones(uploader: Uploader) -> None:
    page = uploader.browser.get(
        uploader.upload(f"Town,Name,A,B,C,D,Phone\nHove,Ann,1,2,3,4,{ANN}\n")
    ).text
    values = [("Town", "Hove"), ("A", "1"), ("B", "2"), ("C", "3"), ("Phone", ANN)]
    assert re.findall(r'class="phone-fact" data-label="(\w+)">([^<]+)<', page) == values


def test_a_phone_shows_both_names_and_the_do_not_call_column(uploader: Uploader) -> None:
    columns = "First name,Last name,Phone,Do not call,A,B,C,D,E"
    address = uploader.upload(f"{columns}\nAnn,Lees,12,yes,1,2,3,4,5\n")
    page = uploader.browser.get(address).text
    assert re.search(r'class="phone-title">\s*Ann <span class="title-surname">Lees</span>', page)
    values = [("Do not call", "yes"), ("A", "1"), ("B", "2"), ("C", "3"), ("D", "4")]
    assert re.findall(r'class="phone-fact" data-label="([\w ]+)">([^<]+)<', page) == values


def test_first_and_last_names_without_column_names_are_recognized(
    uploader: Uploader, session: Session
) -> None:
    address = uploader.upload(f"Anna,Lees,Hove,{ANN}\nZoë,O’Neil,Hove,{BOB}\n")
    assert chosen(uploader, address) == ["firstName", "lastName", "metadata:Column C", "phone"]
    uploader.press(address, "apply")
    uploader.work(address)
    hove = {"Column C": "Hove"}
    assert contacts(session) == [("Anna", "Lees", ANN, hove), ("Zoë", "O’Neil", BOB, hove)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(("Call back", "Call back", "No answer"), id="repeated words"),
        pytest.param(("ann", "bob", "cy"), id="words in lower case"),
        pytest.param(("Lee GmbH", "12 High Street", "Acme Inc"), id="companies and streets"),
    ],
)
def test_other_columns_of_a_file_without_column_names_stay_metadata(
    uploader: Uploader, other: tuple[str, ...]
) -> None:
    rows = zip(other, (ANN, BOB, CY), strict=True)
    address = uploader.upload("".join(f"{word},{phone}\n" for word, phone in rows))
    assert chosen(uploader, address) == ["metadata:Column A", "phone"]


def test_a_country_code_beside_the_number_is_used_where_it_is_mapped_by_hand(
    uploader: Uploader, session: Session
) -> None:
    address = uploader.upload("lead|cc|phone_number\nAnn|44|7911123456\nBob|1|2025550102\n")
    columns = f"{address}/columns"
    assert '<option value="countryCode">Country code</option>' in uploader.browser.get(columns).text
    by_hand = {"column": ["firstName", "countryCode", "phone"]}
    uploader.browser.post(columns, by_hand, page=columns)
    uploader.work(address)
    uploader.press(address, "apply")
    uploader.work(address)
    assert contacts(session) == [
        ("Bob", None, "+12025550102", {"cc": "1"}),
        ("Ann", None, "+447911123456", {"cc": "44"}),
    ]


def test_a_column_named_as_a_country_code_is_suggested_as_one(uploader: Uploader) -> None:
    address = uploader.upload("phone_code|phone_number\n44|7911123456\n")
    assert chosen(uploader, address) == ["countryCode", "phone"]


def test_hidden_rows_and_columns_are_shown_with_the_number_of_rows(uploader: Uploader) -> None:
    rows = [["Name", "Phone", "City"], ["Ann", ANN, "Hove"], ["Bob", BOB, "Rye"], ["Cy", CY, ""]]
    shown = uploader.shows(uploader.upload(xlsx(*rows, hidden=(3, 4, "C")), "people.xlsx"))
    assert "hidden in the spreadsheet, by a filter or by hand, are read too (2 rows)." in shown
    assert "Columns that are hidden in the spreadsheet are read too." in shown


@pytest.mark.parametrize("open_one", ["", inline_row(1, "Name", "Phone")])
def test_another_sheet_is_chosen_where_the_open_one_has_no_rows(
    uploader: Uploader, open_one: str
) -> None:
    people = sheet_xml(inline_row(1, "Name", "Phone") + inline_row(2, "Ann", ANN))
    workbook = workbook_bytes(("Notes", sheet_xml(open_one)), ("People", people))
    address = uploader.upload(workbook, "people.xlsx")
    assert "The file can’t be checked" in uploader.shows(address)
    page = uploader.browser.get(f"{address}/columns")
    assert re.findall(r"<option[^>]*>([^<]*)</option>", page.text)[:3] == [
        *("Automatic", "Notes", "People"),
    ]
    assert "Text encoding" not in words(page)
    chosen = {"encoding": "", "delimiter": "", "sheet": "People", "region": "", "header_row": ""}
    assert uploader.browser.post(f"{address}/columns", chosen, page=address).status_code == 303
    uploader.work(address)
    assert "1 row can be applied" in uploader.shows(address)


def test_a_guessed_encoding_is_shown_and_can_be_changed(uploader: Uploader) -> None:
    people = f"Imię;Nazwisko;Telefon\nŁukasz;Wójcik;{ANN}\nMałgorzata;Wiśniewska;{BOB}\n"
    assert "Read as UTF-8, separated by" in uploader.shows(
        uploader.upload(people.encode("utf-8-sig"))
    )
    address = uploader.upload(people.encode("cp1250"))
    shown = uploader.shows(f"{address}?rows=all")
    assert "Wiśniewska" in shown
    assert "Windows (Central Europe), separated by semicolons" in shown
    assert "The text encoding was guessed" in shown
    chosen = {"encoding": "iso8859-2", "delimiter": "", "sheet": "", "region": "", "header_row": ""}
    assert uploader.browser.post(f"{address}/columns", chosen, page=address).status_code == 303
    uploader.work(address)
    assert "Latin-2 (Central Europe)" in uploader.shows(address)


@pytest.mark.parametrize("phone", ["13033422", "+1 303-3422", "303 3422"])
def test_a_number_without_its_area_code_fails_the_check(uploader: Uploader, phone: str) -> None:
    shown = uploader.shows(uploader.upload(f"Name,Phone\nAnn,{phone}\n"))
    assert "Would be created 0" in shown
    assert "Area code missing" in shown


def test_the_sample_file_is_applied_as_it_is(uploader: Uploader, session: Session) -> None:
    sample = uploader.browser.get("/uploads/sample.csv")
    assert sample.headers["Content-Disposition"] == 'attachment; filename="contacts-sample.csv"'
    uploader.applied(sample.data)
    assert contacts(session) == [
        ("Ada", "Byron", "+12025550101", {"Company": "Example Ltd"}),
        ("Max", "Sample", "+12025550102", None),
    ]
