"""Campaigns made by command."""

import json
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Contact
from tests import matrix
from tests.commands.conftest import Shell, written
from tests.fixtures.databases import BACKENDS

ANN, BOB = "+12025550101", "+12025550102"

pytestmark = pytest.mark.parametrize(
    "backend", BACKENDS if matrix.is_full() else ["sqlite"], indirect=True
)


def test_a_campaign_is_made_with_its_external_ids(
    shell: Shell, session: Session, tmp_path: Path
) -> None:
    words = ("--organization", shell.tenant.organization.id, "--name", "Spring")
    keys = ("--external-id-key", "crmId", "--external-id-key", "siteId")
    result = shell.run("campaigns", "create", *words, *keys, "--json")
    output = json.loads(result.stdout)
    assert (result.exit_code, output) == (
        0,
        {
            "id": output["id"],
            "name": "Spring",
            "organizationId": str(shell.tenant.organization.id),
            "status": "paused",
            "externalIdKeys": ["crmId", "siteId"],
        },
    )
    own = Shell(shell.app, shell.tenant, UUID(output["id"]))
    _, first = own.output(written(tmp_path, f"crmId,siteId,Phone\nC-1,S-1,{ANN}\n"))
    _, second = own.output(written(tmp_path, f"siteId,Phone\nS-1,{BOB}\n"))
    assert [each["rows"][0]["action"] for each in (first, second)] == ["created", "updated"]
    assert session.scalars(select(Contact.phone)).all() == [BOB]


def test_a_campaign_without_keys_has_no_external_ids(shell: Shell) -> None:
    words = ("--organization", shell.tenant.organization.id, "--name", "Spring", "--json")
    shell.run("campaigns", "create", *words, "--external-id-key", "crmId")
    output = json.loads(shell.run("campaigns", "create", *words).stdout)
    assert output["externalIdKeys"] == []


def test_a_missing_organization_gets_no_campaign(shell: Shell) -> None:
    result = shell.run("campaigns", "create", "--organization", uuid4(), "--name", "Spring")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
