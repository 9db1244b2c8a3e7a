"""Commands in the test's own process."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy.orm import Session

from app.enums import Role
from app.services import campaigns
from tests.fixtures.tenants import Tenant, make_tenant


@dataclass(frozen=True, slots=True)
class Shell:
    """An operator's shell; the campaign belongs to an American customer of ``tenant``."""

    app: Flask
    tenant: Tenant
    campaign_id: UUID

    def run(self, *words: object) -> Result:
        return self.app.test_cli_runner().invoke(args=[str(word) for word in words])

    def put_in(self, path: object, *words: object) -> Result:
        """Run ``contacts import`` of a file into the campaign."""
        return self.run("contacts", "import", path, "--campaign", self.campaign_id, *words)

    def output(self, path: object, *words: object) -> tuple[int, dict[str, Any]]:
        """Return its exit status and the object that it prints."""
        result = self.put_in(path, "--json", *words)
        assert result.stdout, result.stderr
        return result.exit_code, json.loads(result.stdout_bytes)


@pytest.fixture
def shell(app: Flask, session: Session) -> Shell:
    tenant = make_tenant(session)
    caller = tenant.caller(Role.PARTNER_ADMIN)
    campaign = campaigns.create(session, caller, tenant.organization.id, name="Winter recall")
    session.commit()
    return Shell(app, tenant, campaign.id)


def written(folder: Path, text: str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    session.commit()
    return tenant


def run_command(app: Flask, *words: object) -> Result:
    """Run a command in an operator's shell."""
    return app.test_cli_runner().invoke(args=[str(word) for word in words])


def printed(app: Flask, *words: object) -> str:
    """Return what a command prints, which must succeed."""
    result = run_command(app, *words)
    assert result.exit_code == 0, result.output
    return result.output
