"""Operators are told on every page that dialling is paused."""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.caller import system_caller
from app.enums import CarrierKind, Role
from app.models import User
from app.services.dialler import pauses
from app.services.dialler.pauses import Scope
from tests.fixtures.cast import Tenant
from tests.portal.conftest import Browser

SignIn = Callable[[User], Browser]


@pytest.fixture
def operator(session: Session, signed_in: SignIn) -> Browser:
    person = User(
        email="ops@example.com", email_key="ops@example.com", name="Ops", user_type=Role.OPERATOR
    )
    session.add(person)
    session.flush()
    return signed_in(person)


def pause(session: Session, scope: Scope, reason: str) -> None:
    pauses.pause(session, system_caller("Mara"), scope, reason)
    session.commit()


def test_every_page_of_an_operator_says_that_dialling_is_paused(
    session: Session, own: Tenant, operator: Browser, signed_in: SignIn
) -> None:
    assert "Dialling is paused" not in operator.get("/").text
    pause(session, Scope(), "restored from a backup")
    pause(session, Scope(carrier=CarrierKind.TWILIO), "A storm")
    pause(session, Scope(partner_id=own.partner.id), "Unpaid")
    for path in ("/", "/organizations", "/account"):
        shown = operator.get(path).text
        assert "Dialling is paused for all calls</p>" in shown
        assert "by Mara: restored from a backup. Calls are accepted and wait." in shown
        assert "Dialling is paused for all calls over Twilio</p>" in shown
        assert "Dialling is paused for all calls of one partner</p>" in shown
    assert "restored from" not in signed_in(own.staff[Role.PARTNER_ADMIN]).get("/account").text
