"""The audit log: who changed what, one row in the transaction of each change.

`log` writes and reads it beside the things it is about; `search` is the history screen's query.
`refusals` writes refused attempts without a row for each. `chain` links the entries by hashes;
`verification` checks them, `forwarding` sends them elsewhere.
"""

from app.services.audit.log import (
    EVERYDAY,
    SIGNED_IN,
    last_of_target,
    latest,
    latest_of_target,
    of_partner,
    record,
    record_change,
)
