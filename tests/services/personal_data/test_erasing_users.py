"""After a user is erased nothing names them, and the account stays for the figures."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import ErasureStatus, Role, UserStatus
from app.errors import Conflict, Forbidden, NotFound
from app.gateways.files import open_files
from app.gateways.mailers import open_outbox
from app.jobs.erase_subject import SubjectErasure
from app.models import (
    Call,
    Campaign,
    IdentityProvider,
    MailKind,
    Passkey,
    PortalSession,
    RefusalCount,
    ReportSchedule,
    ScimUser,
    User,
    UserIdentity,
    is_erased,
    utcnow,
)
from app.policy.caller import Caller
from app.schemas.users import UpdateUserInput
from app.services import campaigns, mail_queue, users
from app.services.audit import verification
from app.services.personal_data import erasing, subjects
from tests.fixtures.canaries import files_in, places_in_database
from tests.fixtures.tenants import Tenant, caller_with, make_tenant, make_user
from tests.portal.test_calls import answered, make_call

EMAIL, OLD_EMAIL = "greta.canary@mail.example", "greta.old-canary@mail.example"
NAME, SUBJECT, ADDRESS = "Gretaxine Canarywood", "subject-canary-77", "203.0.113.77"
CANARIES = (EMAIL, OLD_EMAIL, NAME, "Canarywood", SUBJECT, ADDRESS)


@pytest.fixture
def erased_user(session: Session, tenant: Tenant, admin: Caller) -> User:
    """An editor of the partner with traces everywhere."""
    user = make_user(session, tenant.partner.id, OLD_EMAIL, Role.PARTNER_EDITOR)
    change = UpdateUserInput.model_validate({"email": EMAIL})
    users.update(session, admin, user.id, change, name=NAME)
    user.last_sign_in, user.idp_uid = utcnow(), SUBJECT
    session.flush()
    hers = caller_with(Role.PARTNER_ADMIN, user)
    hers = replace(hers, ip=ADDRESS)
    campaign = campaigns.create(session, hers, tenant.organization.id, name="Recall")
    campaigns.rename(session, hers, campaign.id, "Recall 2")
    make_call(session, tenant.organization, "+12025550101", requested_by=EMAIL, **answered())
    provider = IdentityProvider(
        partner_id=tenant.partner.id,
        name="Entra",
        issuer="https://login.example",
        client_id="portal",
        secret="sealed",
    )
    session.add(provider)
    session.flush()
    session.add_all(
        [
            UserIdentity(provider_id=provider.id, user_id=user.id, subject=SUBJECT),
            ScimUser(
                user_id=user.id,
                partner_id=tenant.partner.id,
                external_id=SUBJECT,
                given_name="Gretaxine",
                family_name="Canarywood",
            ),
            Passkey(
                user_id=user.id,
                credential_hash="0" * 64,
                credential_id="x",
                public_key="y",
                rp_id="localhost",
                name=f"{NAME}'s phone",
            ),
            PortalSession(
                token_hash="1" * 64,
                user_id=user.id,
                host="localhost",
                ip=ADDRESS,
                user_agent="Canary/1",
                data={},
                expires_at=utcnow(),
            ),
            RefusalCount(
                key="2" * 64, partner_id=tenant.partner.id, since=utcnow(), entry={"actor": EMAIL}
            ),
            ReportSchedule(
                scope=f"partner:{tenant.partner.id}",
                partner_id=tenant.partner.id,
                day=1,
                hour=8,
                timezone="UTC",
                recipients=[EMAIL, "other@mail.example"],
                next_at=utcnow(),
            ),
        ]
    )
    mail_queue.enqueue(session, MailKind.NEW_BROWSER, partner_id=tenant.partner.id, user_id=user.id)
    session.commit()
    return user


def erase(database: Database, settings: Settings, caller: Caller, user_id: UUID) -> None:
    with database.transaction() as session:
        subject = subjects.user(session, caller, user_id)
        erasure_id = erasing.request(session, caller, subject).id
    SubjectErasure(database, open_files(settings), open_outbox(settings), erasure_id).run()
    with database.transaction(read_only=True) as session:
        assert erasing.get(session, caller, erasure_id).status is ErasureStatus.DONE


def test_nothing_names_an_erased_user(
    session: Session,
    database: Database,
    settings: Settings,
    tmp_path: Path,
    admin: Caller,
    erased_user: User,
) -> None:
    planted = {table for table, _ in places_in_database(session, CANARIES)}
    assert planted >= {
        *("audit_entries", "calls", "passkeys", "portal_sessions", "refusal_counts"),
        *("report_schedules", "scim_users", "user_identities", "users"),
    }
    users_before = session.scalar(select(func.count()).select_from(User))
    erase(database, settings, admin, erased_user.id)
    session.expire_all()
    assert places_in_database(session, CANARIES) == set()
    assert files_in(tmp_path, CANARIES) == set()
    assert session.scalar(select(func.count()).select_from(User)) == users_before
    found = session.get_one(User, erased_user.id)
    assert (found.status, found.name, is_erased(found.email)) == (
        UserStatus.DEACTIVATED,
        None,
        True,
    )
    assert session.scalars(select(ReportSchedule.recipients)).one() == ["other@mail.example"]
    assert is_erased(session.scalars(select(Call.requested_by)).one())
    assert session.scalars(select(Campaign.name)).one() == "Recall 2"
    assert verification.verify(session).broken is None


def test_the_last_active_administrator_cannot_be_erased(
    session: Session, tenant: Tenant, admin: Caller
) -> None:
    operator = caller_with(Role.OPERATOR, None)
    subject = subjects.user(session, operator, tenant.staff[Role.PARTNER_ADMIN].id)
    with pytest.raises(Conflict) as refused:
        erasing.request(session, operator, subject)
    assert refused.value.code == "last_partner_admin"


def test_users_cannot_erase_themselves(session: Session, admin: Caller) -> None:
    assert admin.subject_id is not None
    subject = subjects.user(session, admin, admin.subject_id)
    with pytest.raises(Forbidden) as refused:
        erasing.request(session, admin, subject)
    assert refused.value.code == "own_account"


def test_an_erased_user_cannot_be_reactivated_or_erased_again(
    session: Session, database: Database, settings: Settings, admin: Caller, erased_user: User
) -> None:
    erase(database, settings, admin, erased_user.id)
    session.expire_all()
    with pytest.raises(Conflict) as refused:
        users.reactivate(session, admin, erased_user.id)
    assert refused.value.code == "erased"
    with pytest.raises(NotFound):
        erasing.request(session, admin, subjects.user(session, admin, erased_user.id))


def test_a_stranger_finds_no_user_to_erase(session: Session, erased_user: User) -> None:
    stranger = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    with pytest.raises(NotFound):
        subjects.user(session, stranger, erased_user.id)
