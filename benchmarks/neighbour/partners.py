"""Two partners of a served portal, and a browser of each."""

import re
import time
from typing import NamedTuple
from uuid import UUID

import requests
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.gateways.carriers.sip.account import Trunk
from app.services import campaigns, carrier_accounts, organizations
from app.services.auth import passwords
from app.services.carrier_accounts import AccountFields
from tests.fixtures.tenants import Tenant, make_tenant

PASSWORD = "a long quiet password"  # noqa: S105 - of an account that lives as long as the benchmark
TRUNKS = 24


class Partner(NamedTuple):
    email: str
    campaign_id: UUID
    account_ids: list[UUID]


def two_partners(database: Database, keys: tuple[str, ...], trunk: str) -> tuple[Partner, Partner]:
    """Create a quiet partner, and a loud one with accounts at a trunk that never answers."""
    with database.transaction() as session:
        quiet, loud = make_tenant(session, "Northwind"), make_tenant(session, "Southgate")
        partners = _with_password(session, quiet, []), _with_password(session, loud, [])
        for number in range(TRUNKS):
            caller = loud.caller(Role.PARTNER_ADMIN)
            organization = organizations.create(
                session,
                caller,
                loud.partner.id,
                organizations.NewOrganization(f"Customer {number}"),
            )
            account = carrier_accounts.save(
                session,
                caller,
                keys,
                AccountFields("secret", trunk=Trunk(address=trunk, user=f"user{number}")),
                organization=organization,
                may_be_private=True,
            )
            partners[1].account_ids.append(account.id)
    return partners


def _with_password(session: Session, tenant: Tenant, account_ids: list[UUID]) -> Partner:
    user = tenant.staff[Role.PARTNER_ADMIN]
    user.password_hash = passwords.hash_password(PASSWORD)
    caller = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, caller, tenant.organization.id, name="Everybody")
    return Partner(user.email, campaign.id, account_ids)


class Browser:
    """Keeps cookies, and sends forms with a page's token."""

    def __init__(self, base_url: str, partner: Partner):
        self._base_url = base_url
        self._session = requests.Session()
        answer = self.send("/sign-in", data={"email": partner.email, "password": PASSWORD})
        assert "sign-in" not in answer.url, answer.url

    def get(self, path: str) -> float:
        """Return the seconds of a page."""
        began = time.perf_counter()
        answer = self._session.get(self._base_url + path, timeout=60)
        assert answer.status_code == 200, (path, answer.status_code)
        return time.perf_counter() - began

    def send(
        self,
        path: str,
        *,
        page: str | None = None,
        data: dict[str, str] | None = None,
        files: dict[str, tuple[str, bytes]] | None = None,
    ) -> requests.Response:
        """Send a form as it is on a page."""
        form_page = self._session.get(self._base_url + (page or path), timeout=60).text
        token = re.search(r'name="csrf_token" value="([^"]+)"', form_page)
        assert token, page or path
        return self._session.post(
            self._base_url + path,
            data={"csrf_token": token[1], **(data or {})},
            files=files,
            headers={"Sec-Fetch-Site": "same-origin"},
            timeout=120,
        )
