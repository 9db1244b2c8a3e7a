"""The counters of failed attempts: of the account, the network and the installation.

A success removes its attempt from the shared counters and resets its own, so an office behind one
IP address signs in without a wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.config.limits import LimitSettings
from app.services.auth import throttle
from app.services.auth.throttle import FailureCounter, ThrottleRule
from app.validation.networks import network_of, networks

QUARTER_OF_AN_HOUR = 900


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """``individual`` counters belong to the account or client, ``shared`` ones to everyone behind
    the network and to the installation."""

    individual: Sequence[FailureCounter]
    shared: Sequence[FailureCounter] = ()

    @property
    def all(self) -> Sequence[FailureCounter]:
        return [*self.individual, *self.shared]


def of_sign_in(
    limits: LimitSettings, email: str, ip: str | None, device: str | None
) -> AttemptLimits:
    """Return the counters of a sign-in. A browser that is known to the account has its own counter:
    failures of strangers on the account or in the same network don't delay it."""
    if device is not None:
        rule = ThrottleRule(limits.failed_sign_ins, 300, QUARTER_OF_AN_HOUR)
        key = throttle.key_of("device", email, device)
        return AttemptLimits([FailureCounter(key, rule, is_of_account=True)])
    rule = ThrottleRule(limits.failed_sign_ins_account, QUARTER_OF_AN_HOUR, QUARTER_OF_AN_HOUR)
    key = throttle.key_of("account", email)
    account = FailureCounter(key, rule, is_of_account=True, is_of_everywhere=True)
    own_counters = [_at_network("account", limits, email, ip), account]
    return AttemptLimits(own_counters, _shared_counters("sign-in", limits, ip))


def of_client(limits: LimitSettings, client_id: str, ip: str | None) -> AttemptLimits:
    """Return the counters of a token request. None counts a client over all networks: secrets are
    too long to guess, and strangers could block the client."""
    return AttemptLimits(
        [_at_network("client", limits, client_id, ip)], _shared_counters("client", limits, ip)
    )


def of_recovery_requests(ip: str | None) -> Sequence[FailureCounter]:
    """Return the counters of one network's requests for recovery links. A request waits a minute at
    most, so that the owner of an account can always request one."""
    return _of_networks("recovery network", ThrottleRule(10, 60, 60), ip)


def of_recovery_mails(user_id: UUID) -> FailureCounter:
    """Return the counter of mails with recovery links to one user: five at once, then five an hour.
    The links of the last hour stay valid, so one of them works whenever no further mail is sent."""
    return FailureCounter(
        throttle.key_of("recovery mail", str(user_id)), ThrottleRule(5, 720, 720, 720)
    )


def of_second_step(limits: LimitSettings, user_id: UUID, ip: str | None) -> AttemptLimits:
    """Return the counters of codes after a right password. Strangers who know the password delay
    the owner only in their own network, until they have made as many attempts as an account
    allows."""
    rule = ThrottleRule(limits.failed_sign_ins_account, QUARTER_OF_AN_HOUR, QUARTER_OF_AN_HOUR)
    account = FailureCounter(throttle.key_of("second step", str(user_id)), rule, is_of_account=True)
    own_counters = [_at_network("second step", limits, str(user_id), ip), account]
    return AttemptLimits(own_counters, _shared_counters("sign-in", limits, ip))


def of_own_password(user_id: UUID | None, allowed: int) -> FailureCounter:
    """Return the counter of wrong current passwords of a signed-in user."""
    rule = ThrottleRule(allowed, 300, QUARTER_OF_AN_HOUR)
    return FailureCounter(throttle.key_of("own password", str(user_id)), rule)


def _at_network(kind: str, limits: LimitSettings, name: str, ip: str | None) -> FailureCounter:
    rule = ThrottleRule(limits.failed_sign_ins, 60, QUARTER_OF_AN_HOUR)
    key = throttle.key_of(f"{kind} at a network", name, network_of(ip))
    return FailureCounter(key, rule, is_of_account=True)


def _shared_counters(kind: str, limits: LimitSettings, ip: str | None) -> Sequence[FailureCounter]:
    network = ThrottleRule(limits.failed_sign_ins_network, 60, QUARTER_OF_AN_HOUR)
    site = ThrottleRule(limits.failed_sign_ins_site, 1, 60)
    everywhere = FailureCounter(throttle.key_of(f"{kind} site"), site, is_of_everywhere=True)
    return [*_of_networks(f"{kind} network", network, ip), everywhere]


def _of_networks(kind: str, rule: ThrottleRule, ip: str | None) -> Sequence[FailureCounter]:
    return [FailureCounter(throttle.key_of(kind, each), rule) for each in networks(ip)]
