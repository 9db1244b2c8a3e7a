"""Accounts with a carrier: live calls of an organization go out over its own, else over its
partner's, else over the installation's.

`accounts` is what people do with them, `particulars` what may stand in one, `testing` what a test
of one found, `using` which of them a call goes out over, and what opens it.
"""

from app.services.carrier_accounts.account_fields import (
    Particulars,
    trunk_of,
)
from app.services.carrier_accounts.accounts import (
    CurrentAccount,
    Leaving,
    current,
    get,
    in_use,
    leaving,
    of_organizations,
    remove,
    save,
)
from app.services.carrier_accounts.key_rotation import KEPT_SECRET, forgotten, tidy
from app.services.carrier_accounts.testing import ask as ask_for_test
from app.services.carrier_accounts.testing import begin as begin_test
from app.services.carrier_accounts.testing import end as end_test
from app.services.carrier_accounts.testing import is_running, last_tests
from app.services.carrier_accounts.using import (
    choose_again,
    credentials,
    effective,
    numbers_of,
    of_attempt,
    of_call,
    of_owners,
)
