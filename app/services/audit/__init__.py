"""The audit log: who changed what, one row in the transaction of each change.

`log` writes it and reads it for the records concerned; `search` is the query of the history screen.
`refusals` sums up refused attempts. `chain` links the entries by hashes; `verification` checks
them, `forwarding` sends them to a syslog server.
"""

from app.services.audit.log import (
    NUMBER_LISTED,
    SIGNED_IN,
    last_change_at,
    last_of_target,
    latest,
    latest_of_target,
    of_partner,
    record,
    record_change,
    record_version,
)
