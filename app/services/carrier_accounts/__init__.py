"""Carrier accounts: live calls of an organization use its own, otherwise its partner's, otherwise
the installation's. A new account is pending, and used by no call, until its test has passed.

`accounts` holds the actions of users, `account_fields` the valid fields, `checks` what the worker
checks, `testing` the tests of connections, `selection` the choice of a call's account and its
credentials.
"""

from app.services.carrier_accounts.account_fields import AccountFields, trunk_of
from app.services.carrier_accounts.accounts import (
    activate,
    count_organizations,
    current,
    get,
    of_organizations,
    removal_effects,
    remove,
    save,
)
from app.services.carrier_accounts.checks import is_running, last_checks, restart
from app.services.carrier_accounts.secret_retention import (
    KEPT_SECRET,
    delete_unneeded_secrets,
    find_forgotten,
)
from app.services.carrier_accounts.selection import (
    calling_over,
    choose_again,
    count_numbers,
    credentials,
    effective,
    in_use_of,
    of_attempt,
    of_call,
    of_owners,
    same_in_use,
)
from app.services.carrier_accounts.testing import any_failing, failing
from app.services.carrier_accounts.testing import begin as begin_test
from app.services.carrier_accounts.testing import end as end_test
from app.services.carrier_accounts.testing import enqueue_test as ask_for_test
