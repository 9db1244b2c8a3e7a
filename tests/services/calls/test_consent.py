"""Contacts who refused are never called; where consent is demanded, only those who gave it are."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CallStatus, ContactAction, EndedReason
from app.errors import Conflict
from app.models import Assistant, Call, Campaign, Contact, Organization, utcnow
from app.policy.caller import system_caller
from app.services import calls, campaigns, contacts
from app.services.calls import rules
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NUMBER = "+12025550101"
OWNER = system_caller("the owner")
REFUSAL = ("do_not_contact", "A contact with this number has asked not to be called.")
MISSING = (
    "consent_missing",
    "The organization requires consent, and no contact with this number has given it.",
)


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    return make_calling_organization(session, consent_required=True)


@pytest.fixture
def campaign(session: Session, calling_organization: CallingOrganization) -> Campaign:
    return campaigns.create(session, OWNER, calling_organization.organization_id, name="Spring")


def say(session: Session, campaign: Campaign, phone: str = NUMBER, **metadata: Any) -> None:
    person = {"phone": phone, "contactMetadata": metadata}
    contacts.apply(session, campaign, [person], ContactAction.UPSERT)


def ask(session: Session, calling_organization: CallingOrganization) -> Call:
    return calling_organization.accept(session, NUMBER)


def checks_of(
    session: Session, calling_organization: CallingOrganization
) -> list[tuple[str, str, str]]:
    """Code, state and sentence of everything that is looked at before a call."""
    assistant, texts = (
        session.get_one(Assistant, calling_organization.assistant_id),
        calls.CallTexts(instructions="x"),
    )
    found = calls.preflight(session, OWNER, assistant, NUMBER, texts, installation=CallSettings())
    return [(check.code, check.status.value, check.message) for check in found]


def stored_consent(session: Session) -> Any:
    session.expire_all()
    row = session.execute(select(Contact.consent, Contact.consent_source, Contact.consent_at))
    return tuple(row.one())


@pytest.mark.parametrize(
    ("answer_text", "status"),
    [
        ({}, None),
        ({"consent": "yes"}, "given"),
        ({"consent": True}, "given"),
        ({"consent": "Opted in"}, "given"),
        ({"consent": "NO"}, "refused"),
        ({"consent": "withdrawn"}, "refused"),
        ({"consent": "perhaps"}, None),
    ],
)
def test_a_call_is_accepted_only_with_consent(
    session: Session,
    calling_organization: CallingOrganization,
    campaign: Campaign,
    answer_text: dict[str, Any],
    status: str | None,
) -> None:
    say(session, campaign, **answer_text)
    assert stored_consent(session)[0] == status
    if status == "given":
        assert ask(session, calling_organization).status is CallStatus.QUEUED
        return
    with pytest.raises(Conflict) as refused:
        ask(session, calling_organization)
    assert (refused.value.code, refused.value.message) == (REFUSAL if status else MISSING)


def test_a_number_of_no_contact_is_refused(
    session: Session, calling_organization: CallingOrganization
) -> None:
    with pytest.raises(Conflict) as refused:
        ask(session, calling_organization)
    assert refused.value.code == "consent_missing"


def test_the_source_and_the_time_are_kept_and_follow_the_metadata(
    session: Session, campaign: Campaign
) -> None:
    say(session, campaign, consent="yes", consentSource="web form", consentAt="2026-03-01")
    first = stored_consent(session)
    say(session, campaign, note="something else")
    second = stored_consent(session)
    say(session, campaign, consent=None)
    assert (first, second, stored_consent(session)) == (
        ("given", "web form", datetime(2026, 3, 1, tzinfo=UTC)),
        first,
        (None, None, None),
    )


@pytest.mark.parametrize(
    "at",
    ["0001-01-01", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59Z", "9999-12-31T20:00-05:00"],
)
def test_a_time_that_some_time_zone_does_not_have_counts_as_none(
    session: Session, campaign: Campaign, at: str
) -> None:
    say(session, campaign, consent="yes", consentAt=at)
    status, _, consent_at = stored_consent(session)
    assert (status, utcnow() - consent_at < timedelta(minutes=1)) == ("given", True)


def test_a_refusal_anywhere_in_the_organization_counts_more_than_consent(
    session: Session, calling_organization: CallingOrganization, campaign: Campaign
) -> None:
    other = campaigns.create(session, OWNER, calling_organization.organization_id, name="Autumn")
    stranger = make_calling_organization(session)
    theirs = campaigns.create(session, OWNER, stranger.organization_id, name="Theirs")
    say(session, campaign, consent="yes")
    say(session, theirs, consent="no")
    numbers = {NUMBER, "+12025550102"}
    assert rules.consent_by_phone(session, calling_organization.organization_id, numbers) == {
        NUMBER: rules.GIVEN
    }
    say(session, other, consent="no")
    assert rules.consent_by_phone(session, calling_organization.organization_id, numbers) == {
        NUMBER: rules.REFUSED
    }


def test_consent_is_checked_again_before_the_call_is_placed(
    session: Session, calling_organization: CallingOrganization, campaign: Campaign
) -> None:
    say(session, campaign, consent="yes")
    call = ask(session, calling_organization)
    reasons = []
    for answered_now in ("no", "perhaps"):
        say(session, campaign, consent=answered_now)
        parties = rules.parties_of(session, calling_organization.assistant_id, NUMBER, lock=True)
        blocker = rules.blocker_of(session, call, parties)
        reasons.append(blocker and blocker.reason)
    assert reasons == [EndedReason.DO_NOT_CONTACT, EndedReason.CONSENT_MISSING]


def test_a_refusal_counts_even_where_consent_is_not_required(
    session: Session, calling_organization: CallingOrganization, campaign: Campaign
) -> None:
    session.get_one(Organization, calling_organization.organization_id).consent_required = False
    call = ask(session, calling_organization)
    say(session, campaign, consent="no")
    with pytest.raises(Conflict) as refused:
        ask(session, calling_organization)
    assert (refused.value.code, refused.value.message) == REFUSAL
    blocker = rules.blocker_of(
        session, call, rules.parties_of(session, calling_organization.assistant_id, NUMBER)
    )
    assert blocker is not None
    assert blocker.reason is EndedReason.DO_NOT_CONTACT
    assert [
        check for check in checks_of(session, calling_organization) if "consent" in check[0]
    ] == [("consent_given", "failed", REFUSAL[1])]


def test_without_the_requirement_no_contact_needs_consent_nor_a_check_of_it(
    session: Session, calling_organization: CallingOrganization
) -> None:
    codes = []
    for demanded in (True, False):
        session.get_one(
            Organization, calling_organization.organization_id
        ).consent_required = demanded
        session.flush()
        codes += [
            check[:2] for check in checks_of(session, calling_organization) if "consent" in check[0]
        ]
    assert codes == [("consent_given", "failed")]
    assert ask(session, calling_organization).status is CallStatus.QUEUED


@pytest.mark.parametrize("word", ["refused", "declined"])
@pytest.mark.parametrize(
    ("answer_text", "together"),
    [
        ((), None),
        ((None,), None),
        (("given",), "given"),
        (("given", None), "given"),
        (("given", "word"), "word"),
        (("word", "given"), "word"),
        (("word", None), "word"),
    ],
)
def test_one_refusal_in_any_spelling_counts_for_all_contacts_with_the_number(
    session: Session,
    calling_organization: CallingOrganization,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    answer_text: tuple[str | None, ...],
    together: str | None,
) -> None:
    monkeypatch.setattr(rules, "REFUSED", word)
    for each in answer_text:
        campaign = campaigns.create(
            session, OWNER, calling_organization.organization_id, name=f"of {each}"
        )
        contact = Contact(
            organization_id=calling_organization.organization_id,
            campaign_id=campaign.id,
            phone=NUMBER,
        )
        contact.consent = word if each == "word" else each
        session.add(contact)
    session.flush()
    expected = {} if together is None else {NUMBER: word if together == "word" else together}
    assert (
        rules.consent_by_phone(session, calling_organization.organization_id, [NUMBER]) == expected
    )
