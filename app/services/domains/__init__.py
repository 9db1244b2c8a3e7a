"""Domains of partners by DNS: the records to set, the results of checks, and the sender of
mails."""

from app.services.domains.checking import (
    begin,
    check_again,
    domains_of,
    refresh_due,
    store_findings,
)
from app.services.domains.records import RecordFinding, RequiredRecord, examine, records_of
from app.services.domains.sender import choose_sender, sender_of
