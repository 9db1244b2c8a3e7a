"""``flask partner``: suspending partners and ending their trial."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource
from app.models import AuditEntry, Partner
from app.services.verified_numbers.codes import code_of
from tests.commands.conftest import Shell
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.worker import make_calling_organization

ABSENT = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"


def test_a_partner_is_suspended_and_resumed(session: Session, shell: Shell) -> None:
    partner_id = shell.tenant.partner.id
    message, suspended = [], []
    for what in ("suspend", "suspend", "resume"):
        message.append(shell.run("partner", what, partner_id).output)
        session.expire_all()
        suspended.append(session.get_one(Partner, partner_id).suspended_at is not None)
    assert message == [*["Northwind is suspended.\n"] * 2, "Northwind is active.\n"]
    assert suspended == [True, True, False]


def test_a_missing_partner_is_refused_with_a_sentence(shell: Shell) -> None:
    result = shell.run("partner", "suspend", ABSENT)
    assert (result.exit_code, result.output) == (1, "Error: There is no such partner.\n")


def test_the_trial_of_a_partner_is_started_and_ended(session: Session, shell: Shell) -> None:
    partner_id = shell.tenant.partner.id
    message, in_trial = [], []
    for what in ("start-trial", "start-trial", "end-trial", "end-trial"):
        message.append(shell.run("partner", what, partner_id).output)
        session.expire_all()
        in_trial.append(session.get_one(Partner, partner_id).trial_ended_at is None)
    assert message == [
        *["Northwind is in trial mode.\n"] * 2,
        *["The trial mode of Northwind has ended.\n"] * 2,
    ]
    assert in_trial == [True, True, False, False]
    actions = select(AuditEntry.action).where(AuditEntry.target_id == str(partner_id))
    assert session.scalars(actions.order_by(AuditEntry.id)).all() == [
        "partner.trial_started",
        "partner.trial_ended",
    ]


def test_the_code_of_a_simulated_verification_call_is_printed(
    session: Session, shell: Shell
) -> None:
    calling_organization = make_calling_organization(session)
    verifying, other = calling_organization.accept(session), calling_organization.accept(session)
    verifying.source = CallSource.VERIFICATION
    session.commit()
    code = code_of(verifying.id, SECRET_KEY)
    assert shell.run("calls", "code", verifying.id).output == f"{code}\n"
    refused = "Error: This isn't a verification call on the simulated carrier.\n"
    assert shell.run("calls", "code", other.id).output == refused
