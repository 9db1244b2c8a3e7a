"""A check of a domain's DNS records, as a durable workflow.

A worker that dies leaves the check to the next one, which queries the DNS again.
"""

from datetime import timedelta
from uuid import UUID

from dbos import DBOS

from app.config import Settings
from app.database import Database
from app.enums import DnsRecordStatus, DomainPurpose
from app.gateways.dns_lookups import DnsResolver, NoDnsAnswer
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services import domains
from app.services.domains import RecordFinding


@DBOS.workflow(name="check_domain")
@observe_job
def check_domain(partner_id: str, purpose: str) -> None:
    """Look the records up and keep what was found."""
    look_up_records(partner_id, purpose)


@DBOS.step(name="look_records_up")
@retry_on_database_outage
def look_up_records(partner_id: str, purpose: str) -> None:
    worker = context()
    check(worker.database, worker.settings, UUID(partner_id), DomainPurpose(purpose))


def check(database: Database, settings: Settings, partner_id: UUID, purpose: DomainPurpose) -> None:
    """Look up the records without an open transaction, and store the result."""
    with database.transaction(read_only=True) as session:
        requested_check = domains.begin(session, partner_id, purpose, settings)
    if requested_check is None:
        return
    try:
        findings = domains.examine(
            requested_check.records, DnsResolver(settings.dns_server_addresses)
        )
    except NoDnsAnswer:
        findings = [
            RecordFinding(each.kind, DnsRecordStatus.UNANSWERED) for each in requested_check.records
        ]
    grace = timedelta(days=settings.domain_grace_days)
    with database.transaction() as session:
        domains.store_findings(session, requested_check, findings, grace)
