"""The ledgers of partners' trunks, which are kept as long as a call may need them."""

from pathlib import Path
from uuid import UUID

import pytest

from app.database import Database
from app.gateways.carriers.sip.account import Trunk
from app.gateways.carriers.sip.ledger import AttemptLedger
from app.jobs import housekeeping
from app.models import CarrierAccount, new_id
from app.policy.caller import system_caller
from app.services import carrier_accounts
from app.services.carrier_accounts import KEPT_SECRET, AccountFields
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker import create_calling_organization
from tests.fixtures.worker_context import worker_context


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_ledger_of_an_account_goes_with_its_secret(
    fresh_database: Database, tmp_path: Path
) -> None:
    settings = settings_for(url_of(fresh_database), tmp_path)
    with worker_context(settings):
        calling_organization = create_calling_organization(fresh_database)
        caller = system_caller("colleague", calling_organization.partner_id)
        trunk = AccountFields("right", trunk=Trunk("sip.example.com", user="portal"))
        with fresh_database.transaction() as session:
            save = carrier_accounts.save
            account = save(session, caller, settings.secret_keys, trunk, organization=None)
            account_id, unknown = account.id, new_id()

        def folders() -> set[UUID]:
            return set(AttemptLedger(tmp_path / "sip").accounts())

        for name in (account_id, unknown, "another-folder"):
            (tmp_path / "sip" / str(name)).mkdir()
            (tmp_path / "sip" / str(name) / f"{new_id()}.ledger").touch()
        housekeeping.tidy_carrier_accounts()
        assert folders() == {account_id}
        with fresh_database.transaction() as session:
            carrier_accounts.remove(session, caller, account_id)
        housekeeping.tidy_carrier_accounts()
        assert folders() == {account_id}
        with fresh_database.transaction() as session:
            gone = session.get_one(CarrierAccount, account_id)
            assert gone.removed_at is not None
            gone.removed_at -= KEPT_SECRET
        housekeeping.tidy_carrier_accounts()
        assert folders() == set()
        assert {path.name for path in (tmp_path / "sip").iterdir()} == {
            "began",
            "another-folder",
        }
