from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database import Database
from app.errors import NotFound
from app.models import LinkPurpose, OneTimeLink, utcnow
from app.services.auth import one_time_links
from tests.fixtures.tenants import Tenant, make_tenant

INVITATION, RESET = LinkPurpose.INVITATION, LinkPurpose.RESET_PASSWORD


def works(session: Session, token: str, purpose: LinkPurpose = INVITATION) -> bool:
    try:
        one_time_links.look_up(session, token, purpose)
    except NotFound:
        return False
    return True


def test_a_link_can_be_opened_often_and_used_once(session: Session, tenant: Tenant) -> None:
    token = one_time_links.create(session, tenant.user.id, INVITATION)
    for _ in range(2):
        assert one_time_links.look_up(session, token, INVITATION) == tenant.user
    assert one_time_links.redeem(session, token, INVITATION) == tenant.user
    assert works(session, token) is False
    with pytest.raises(NotFound) as refused:
        one_time_links.redeem(session, token, INVITATION)
    assert refused.value.code == "link_invalid"


def test_a_link_serves_its_purpose_only(session: Session, tenant: Tenant) -> None:
    token = one_time_links.create(session, tenant.user.id, INVITATION)
    assert works(session, token, RESET) is False
    with pytest.raises(NotFound):
        one_time_links.redeem(session, token, RESET)
    assert works(session, token)


def test_a_new_link_keeps_the_older_ones_valid(session: Session, tenant: Tenant) -> None:
    tokens = [one_time_links.create(session, tenant.user.id, INVITATION) for _ in range(2)]
    assert [token for token in tokens if works(session, token)] == tokens
    one_time_links.redeem(session, tokens[0], INVITATION)
    assert [token for token in tokens if works(session, token)] == tokens[1:]


def test_an_expired_link_works_no_more(session: Session, tenant: Tenant) -> None:
    token = one_time_links.create(session, tenant.user.id, RESET)
    session.scalars(select(OneTimeLink)).one().expires_at = utcnow()
    session.flush()
    assert works(session, token, RESET) is False
    with pytest.raises(NotFound):
        one_time_links.redeem(session, token, RESET)


def test_the_token_is_not_stored(session: Session, tenant: Tenant) -> None:
    token = one_time_links.create(session, tenant.user.id, INVITATION)
    stored = session.scalars(select(OneTimeLink)).one()
    assert len(token) == 43  # 256 bits
    assert token not in str(vars(stored))


def test_a_link_used_many_times_at_once_works_once(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        tenant = make_tenant(session)
        token = one_time_links.create(session, tenant.user.id, INVITATION)

    def use(_: int) -> bool:
        try:
            with fresh_database.transaction() as session:
                one_time_links.redeem(session, token, INVITATION)
        except NotFound:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(use, range(8))) == 1
