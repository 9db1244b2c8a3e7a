"""A mailed link that is accepted at the moment in which an administrator suspends its user."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.database import Database
from app.enums import Role
from app.errors import NotFound
from app.models import LinkPurpose, User
from app.services import users
from app.services.auth import one_time_links, passwords
from app.services.users import mailed_links
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import make_tenant

backend = runs_on(["postgresql"])
NEW_HASH = passwords.hash_password("a long way to the sea")


def test_a_link_accepted_while_its_user_is_suspended_waits_and_is_refused(
    fresh_database: Database,
) -> None:
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        admin, partner_id = tenant.caller(Role.PARTNER_ADMIN), tenant.partner.id
        user_id = tenant.staff[Role.PARTNER_EDITOR].id
        token = one_time_links.create(session, user_id, LinkPurpose.RESET_PASSWORD)

    def accept() -> None:
        with fresh_database.transaction() as session:
            mailed_links.accept(
                session,
                token,
                mailed_links.PASSWORD,
                partner_id,
                password_hash=NEW_HASH,
                ip="192.0.2.1",
            )

    with ThreadPoolExecutor(1) as pool:
        with fresh_database.transaction() as session:
            session.get_one(User, user_id, with_for_update=True)
            accepting = pool.submit(accept)
            time.sleep(1)
            users.suspend(session, admin, user_id)
        with pytest.raises(NotFound):
            accepting.result(timeout=20)
