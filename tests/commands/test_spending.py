"""``flask spending …``."""

from pathlib import Path

from flask import Flask
from sqlalchemy.orm import Session

from tests.commands.conftest import printed, run_command
from tests.fixtures.tenants import make_tenant

FILE = """\
prefix,price_per_minute,setup_price,minimum_seconds,increment_seconds,currency
default,0.75,0.00,60,60,EUR
1,0.0135,0.00,30,6,EUR
"""


def test_rates_are_imported_exported_and_reset(app: Flask, tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(FILE)
    assert printed(app, "spending", "import-rates", file) == "2 call rates imported.\n"
    assert printed(app, "spending", "export-rates") == FILE
    assert printed(app, "spending", "reset-rates") == "The default call rates apply.\n"
    assert printed(app, "spending", "export-rates").splitlines()[1] == "default,1.00,0.00,60,60,USD"


def test_a_wrong_file_is_refused_with_its_rows(app: Flask, tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(FILE + "44,1,0,60,60,USD\n44\n")
    result = run_command(app, "spending", "import-rates", file)
    assert (result.exit_code, result.output) == (
        1,
        """\
Error: Row 4: All rates must have the same currency.
Row 5: It has 1 column instead of 6.
""",
    )


def test_limits_are_set_and_shown(app: Flask, session: Session) -> None:
    tenant = make_tenant(session)
    session.commit()
    words = ("organization", tenant.organization.id)
    expected = (
        "Today: 0.00 USD of 12.50 USD, 0 minutes of no limit\n"
        "This month: 0.00 USD of no limit, 0 minutes of 900\n"
    )
    changed = printed(
        app, "spending", "limit", *words, "--day", "12.50", "--month-minutes", "900", "--wait"
    )
    assert (changed, printed(app, "spending", "show", *words)) == (expected, expected)
    assert (
        "12,50 is not an amount"
        in run_command(app, "spending", "limit", *words, "--day", "12,50").output
    )
    assert run_command(app, "spending", "show", "partner", tenant.organization.id).output == (
        "Error: There is no such partner.\n"
    )
