"""Transactions within a transaction of the same request."""

from flask import Flask
from sqlalchemy.orm import Session

from app.extensions import transaction
from app.models import Partner
from tests.fixtures.tenants import make_tenant


def test_what_only_reads_sees_what_the_transaction_around_it_has_changed(
    app: Flask, session: Session
) -> None:
    partner_id = make_tenant(session).partner.id
    session.commit()
    with app.test_request_context("/"), transaction(all_tenants=True) as around:
        around.get_one(Partner, partner_id).name = "Southwind"
        with transaction(read_only=True) as within:
            assert within is around
            assert within.get_one(Partner, partner_id).name == "Southwind"


def test_what_writes_is_a_transaction_of_its_own(app: Flask) -> None:
    with (
        app.test_request_context("/"),
        transaction(read_only=True) as around,
        transaction() as within,
    ):
        assert within is not around
