"""The first partner and organization from the command line: the next command is a call."""

import json
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy.orm import Session

from app.enums import Tier
from app.models import Assistant, Organization, Partner


def run_json(app: Flask, *words: str) -> dict[str, Any]:
    result = app.test_cli_runner().invoke(args=[*words, "--json"])
    assert result.exit_code == 0, result.output
    read: dict[str, Any] = json.loads(result.output)
    return read


def test_an_organization_of_a_partner_out_of_trial_can_call(app: Flask, session: Session) -> None:
    partner = run_json(app, "partner", "create", "Northwind Voice")
    ended = app.test_cli_runner().invoke(args=["partner", "end-trial", partner["id"]])
    assert ended.output == "The trial mode of Northwind Voice has ended.\n"
    words = ("organization", "create", partner["id"], "Harbor Dental")
    organization = run_json(app, *words, "--number", "+12025550147")
    stored = session.get_one(Organization, UUID(organization["id"]))
    assistant = session.get_one(Assistant, UUID(organization["assistantId"]))
    assert (stored.name, stored.payment_tier) == ("Harbor Dental", Tier.FREE)
    assert stored.trial_ended_at is not None
    assert (assistant.phone_number, assistant.active) == ("+12025550147", True)
    assert (assistant.phone_enabled, assistant.phone_configured) == (True, True)


def test_without_a_number_and_in_trial_both_wait(app: Flask, session: Session) -> None:
    partner = run_json(app, "partner", "create", "Northwind Voice")
    organization = run_json(app, "organization", "create", partner["id"], "Harbor Dental")
    stored = session.get_one(Organization, UUID(organization["id"]))
    assistant = session.get_one(Assistant, UUID(organization["assistantId"]))
    tenant = session.get_one(Partner, UUID(partner["id"]))
    assert (tenant.trial_ended_at, stored.trial_ended_at) == (None, None)
    assert (assistant.phone_number, assistant.phone_enabled) == (None, False)


def test_a_refusal_is_a_sentence_without_a_traceback(app: Flask) -> None:
    partner = run_json(app, "partner", "create", "Northwind Voice")
    words = ["organization", "create", partner["id"], "Harbor", "--number", "12"]
    result = app.test_cli_runner().invoke(args=words)
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert result.output.startswith("Error: ")
