"""``flask partner suspend`` and ``flask partner resume``."""

from sqlalchemy.orm import Session

from app.models import Partner
from tests.commands.conftest import Shell

ABSENT = "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"


def test_a_partner_is_suspended_and_resumed(session: Session, shell: Shell) -> None:
    partner_id = shell.tenant.partner.id
    said, suspended = [], []
    for what in ("suspend", "suspend", "resume"):
        said.append(shell.run("partner", what, partner_id).output)
        session.expire_all()
        suspended.append(session.get_one(Partner, partner_id).suspended_at is not None)
    assert said == [*["Northwind is suspended.\n"] * 2, "Northwind is active.\n"]
    assert suspended == [True, True, False]


def test_a_partner_that_does_not_exist_is_refused_in_a_sentence(shell: Shell) -> None:
    result = shell.run("partner", "suspend", ABSENT)
    assert (result.exit_code, result.output) == (1, "Error: There is no such partner.\n")
