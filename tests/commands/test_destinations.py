"""``flask destinations …``."""

from flask import Flask
from sqlalchemy.orm import Session

from app.services import destinations
from tests.commands.conftest import printed, run_command
from tests.fixtures.tenants import make_tenant


def test_limits_are_set_shown_and_reset(app: Flask, session: Session) -> None:
    tenant = make_tenant(session).partner.id
    session.commit()
    assert printed(app, "destinations", "limit-regions", "us", "CA") == "Countries allowed: CA US\n"
    assert printed(app, "destinations", "limit-hosts", "*.example") == (
        "Voice hosts allowed: *.example\n"
    )
    printed(app, "destinations", "limit-regions", "US", "GB", "--partner", tenant)
    printed(app, "destinations", "open-regions", tenant, "US")
    printed(app, "destinations", "open-hosts", tenant, "voice.example")
    assert printed(app, "destinations", "show", "--partner", tenant) == (
        "Countries allowed: GB US\n"
        "Voice hosts allowed: any public host\n"
        "Countries opened by the partner: US\n"
        "Voice hosts opened by the partner: voice.example\n"
    )
    assert destinations.openable_by_partner(session, tenant) == {"US"}
    printed(app, "destinations", "limit-regions", "--reset", "--partner", tenant)
    assert printed(app, "destinations", "limit-hosts", "--any") == (
        "Voice hosts allowed: any public host\n"
    )
    session.expire_all()
    assert destinations.openable_by_partner(session, tenant) == {"CA", "US"}


def test_a_country_that_can_not_be_opened_is_refused_with_a_sentence(
    app: Flask, session: Session
) -> None:
    tenant = make_tenant(session).partner.id
    session.commit()
    refusals = [
        run_command(app, "destinations", "open-regions", tenant, "CU").output,
        run_command(app, "destinations", "limit-regions", "QQ").output,
        run_command(app, "destinations", "limit-hosts", "not a host").output,
    ]
    assert refusals == [
        "Error: Only the platform operator can open: Cuba.\n",
        "Error: QQ is not a country with phone numbers.\n",
        "Error: not a host isn't a host. Enter hosts like voice.example.com, one per line.\n",
    ]
