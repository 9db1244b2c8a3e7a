"""An archived organization takes nothing new until it is restored."""

from sqlalchemy.orm import Session

from app.enums import ImportState
from app.models import Campaign, ContactImport
from app.services import do_not_call, organizations
from tests.fixtures.cast import OPERATOR, Tenant
from tests.portal.conftest import Browser
from tests.portal.uploader import Desk, words

REFUSED = "The organization is archived. Restore it first."
FILE = "First name,Phone\nAda,+12025550101\n"


def test_its_partner_can_neither_upload_apply_nor_add_contacts(
    session: Session, own: Tenant, admin: Browser, desk: Desk
) -> None:
    checked = desk.upload(FILE)
    organizations.archive(session, OPERATOR, own.organization.id)
    session.commit()
    contact = f"/campaigns/{desk.campaign_id}/contacts/new"
    answers = (
        desk.send(FILE, "more.csv"),
        desk.press(checked, "apply"),
        admin.post(contact, {"first_name": "Bob", "phone": "+12025550102"}, page=contact),
    )
    assert [(each.status_code, REFUSED in words(each)) for each in answers] == [(409, True)] * 3
    assert session.query(ContactImport).count() == 1
    assert desk.now(checked).state is ImportState.CHECKED
    assert session.get_one(Campaign, desk.campaign_id).contact_count == 0
    organizations.restore(session, OPERATOR, own.organization.id)
    session.commit()
    assert desk.press(checked, "apply").status_code == 303


def test_its_do_not_call_list_still_takes_numbers(
    session: Session, own: Tenant, admin: Browser
) -> None:
    organizations.archive(session, OPERATOR, own.organization.id)
    session.commit()
    page = f"/organizations/{own.organization.id}/do-not-call"
    assert admin.post(f"{page}/add", {"numbers": "+12025550101"}, page=page).status_code == 303
    assert do_not_call.is_listed(session, own.organization.id, "+12025550101")
