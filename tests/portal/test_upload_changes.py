"""A checked upload shows old values next to new ones, for contacts that exist already."""

from sqlalchemy import event, select
from sqlalchemy.orm import Session

from app.database import Database
from app.models import Contact
from tests.fixtures.uploads import number
from tests.portal.uploader import NO_BREAK, Uploader

ANN, BOB, CY, DI = number(1), number(2), number(3), number(4)
BEFORE = f"Name,Phone,Email,City\nAnna Lees,{ANN},anna@example.com,Leeds\nBob Roe,{BOB},,York\n"


def test_a_changed_value_shows_the_old_one_beside_it(uploader: Uploader) -> None:
    uploader.applied(BEFORE)
    shown = uploader.shows(
        uploader.upload(f"Name,Phone,Email,City\nAnna Meier,{ANN},a.meier@example.com,Hull\n")
    )
    assert "Changed Anna Lees → Anna Meier" in shown
    assert "anna@example.com → a.meier@example.com" in shown
    assert "Leeds → Hull" in shown


def test_a_value_that_the_contact_lacked_is_shown_beside_a_blank(uploader: Uploader) -> None:
    uploader.applied(BEFORE)
    shown = uploader.shows(uploader.upload(f"Name,Phone,Email\nBob Roe,{BOB},bob@example.com\n"))
    assert "empty → bob@example.com" in shown
    assert "Bob Roe →" not in shown


def test_a_number_that_the_file_changes_is_shown_with_the_stored_one(uploader: Uploader) -> None:
    uploader.applied(BEFORE)
    shown = uploader.shows(uploader.upload(f"Name,Phone,Email\nAnna Lees,{DI},anna@example.com\n"))
    assert "+1 201 555 0001 → +1 201 555 0004" in shown


def test_the_old_number_is_shown_beside_the_new_one_that_is_used(uploader: Uploader) -> None:
    uploader.applied(BEFORE)
    page = uploader.browser.get(
        uploader.upload(f"Email,Phone,Mobile phone\nanna@example.com,12,{DI}\n")
    ).text
    assert "<ins>+1 201 555 0004</ins>" in page.replace(NO_BREAK, " ")
    assert "<ins>12</ins>" not in page


def test_a_row_that_changes_nothing_says_so(uploader: Uploader) -> None:
    uploader.applied(BEFORE)
    shown = uploader.shows(uploader.upload(BEFORE.replace("Leeds", "Hull")))
    assert "2 Changed Anna Lees" in shown
    assert "3 No change Bob Roe" in shown


def test_a_change_without_its_own_column_names_its_field(uploader: Uploader) -> None:
    uploader.applied(f"Name,Phone,Do not call\nAnn,{ANN},no\n")
    shown = uploader.shows(uploader.upload(f"Name,Phone,Do not call\nAnn,{ANN},yes\n"))
    assert "consent: empty → no" in shown


def test_an_upload_of_new_contacts_shows_no_old_values(uploader: Uploader) -> None:
    page = uploader.browser.get(uploader.upload(BEFORE)).text
    assert "Would be created" in page
    assert "<del>" not in page
    assert "No change" not in page


def test_counts_lead_to_their_rows(uploader: Uploader) -> None:
    uploader.applied(BEFORE)
    address = uploader.upload(f"Name,Phone\nAnna Meier,{ANN}\nCy Doe,{CY}\nNo Number,\n")
    updated = uploader.shows(f"{address}?rows=updated")
    assert "Contacts to update Show all rows" in updated
    assert "Anna Meier" in updated
    assert "Cy Doe" not in updated
    assert "Cy Doe" in uploader.shows(f"{address}?rows=created")
    assert f'href="{address}?rows=updated#rows"' in uploader.browser.get(address).text


def test_old_values_are_current_and_showing_them_writes_nothing(
    uploader: Uploader, session: Session
) -> None:
    uploader.applied(BEFORE)
    address = uploader.upload(f"Name,Phone\nAnna Meier,{ANN}\n")
    session.scalars(select(Contact).where(Contact.phone == ANN)).one().last_name = "Ross"
    session.commit()
    assert "Anna Ross → Anna Meier" in uploader.shows(address)
    session.expire_all()
    assert session.scalars(select(Contact).where(Contact.phone == ANN)).one().last_name == "Ross"


def test_old_values_take_as_many_statements_for_a_page_as_for_a_row(
    uploader: Uploader, database: Database
) -> None:
    people = [(f"Ann {n}", number(n)) for n in range(10, 40)]
    uploader.applied("Name,Phone\n" + "".join(f"{name},{phone}\n" for name, phone in people))
    few = uploader.upload(f"Name,Phone\nOther,{people[0][1]}\n")
    many = uploader.upload("Name,Phone\n" + "".join(f"Other,{phone}\n" for _, phone in people))
    assert _statements(uploader, database, few) == _statements(uploader, database, many)


def _statements(uploader: Uploader, database: Database, address: str) -> int:
    sent: list[str] = []

    def count(*details: object) -> None:
        sent.append(str(details[2]))

    event.listen(database.engine, "before_cursor_execute", count)
    try:
        assert "Other" in uploader.shows(address)
    finally:
        event.remove(database.engine, "before_cursor_execute", count)
    return len(sent)
