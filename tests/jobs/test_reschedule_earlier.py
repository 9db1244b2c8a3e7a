"""A worker places postponed calls as soon as nothing holds them back."""

from dataclasses import replace

from app.database import Database
from app.gateways.job_queue import enqueue_job
from app.models import Organization, new_id
from app.policy.caller import system_caller
from app.services import organizations
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.worker import Worker, create_calling_organization, outcome, read_call
from tests.matrix import rotating

NUMBER = "+12125550131"


backend = runs_on(rotating("database of calls that come sooner", BACKENDS))


def test_a_call_comes_sooner_when_the_rule_that_delayed_it_is_removed(
    fresh_database: Database, worker: Worker
) -> None:
    calling_organization = create_calling_organization(fresh_database, number_spacing_minutes=60)
    outcome(fresh_database, calling_organization.dial(fresh_database, NUMBER))
    postponed = calling_organization.dial(fresh_database, NUMBER)
    waiting = read_call(fresh_database, postponed)
    assert (waiting.status.value, waiting.status_detail) == (
        "scheduled",
        "The organization waits 60 minutes between calls to one number.",
    )
    with fresh_database.transaction() as session:
        organization = session.get_one(Organization, calling_organization.organization_id)
        rules = replace(organizations.rules_of(organization), number_spacing_minutes=None)
        caller = system_caller(partner_id=calling_organization.partner_id)
        organizations.change_settings(session, caller, organization.id, rules, max_at_once=20)
    assert outcome(fresh_database, postponed) == ("completed", "completed", "human")


def test_work_that_the_previous_version_queued_under_its_name_runs(
    fresh_database: Database, worker: Worker
) -> None:
    calling_organization = create_calling_organization(fresh_database, number_spacing_minutes=60)
    outcome(fresh_database, calling_organization.dial(fresh_database, NUMBER))
    postponed = calling_organization.dial(fresh_database, NUMBER)
    with fresh_database.transaction() as session:
        session.get_one(
            Organization, calling_organization.organization_id
        ).number_spacing_minutes = None
        ids = str(calling_organization.partner_id), str(calling_organization.organization_id)
        enqueue_job(session, "bring_forward", str(new_id()), *ids)
    assert outcome(fresh_database, postponed) == ("completed", "completed", "human")
