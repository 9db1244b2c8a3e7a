"""Contacts are found by what a name, or an email address, begins with."""

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import Contact
from app.services import campaigns
from app.services.contacts import queries
from tests.fixtures.cast import make_tenant

PEOPLE = (
    ("Anna Lena", "Łukasiewicz", "alena@x.example"),
    ("Zoë", "Ørsted-Straße", None),
    ("José", None, "jose.maria@x.example"),
    (None, "O'Neil", None),
)
FOUND = {
    "anna": ["Łukasiewicz"],
    "LENA": ["Łukasiewicz"],
    "lukas": ["Łukasiewicz"],
    "Anna Łuk": ["Łukasiewicz"],
    "lukas an": ["Łukasiewicz"],
    "ukas": [],
    "zoe ors": ["Ørsted-Straße"],
    "orsted-STRASSE": ["Ørsted-Straße"],
    "jose": [None],
    "JOSÉ": [None],
    "jose.maria@": [None],
    "o'n": ["O'Neil"],
    "%": [],
    "_": [],
}


@pytest.mark.parametrize("words", FOUND)
def test_names_are_found_by_their_beginnings_without_accents(session: Session, words: str) -> None:
    tenant = make_tenant(session)
    admin = tenant.caller(Role.ADMIN)
    campaign = campaigns.create(session, admin, tenant.organization.id, name="Recall")
    for number, (first, last, email) in enumerate(PEOPLE):
        session.add(
            Contact(
                organization_id=campaign.organization_id,
                campaign_id=campaign.id,
                phone=f"+1202555010{number}",
                email=email,
                email_key=email,
                first_name=first,
                last_name=last,
            )
        )
    session.flush()
    found = queries.search(session, campaign, query=words).items
    assert [contact.last_name for contact in found] == FOUND[words]
