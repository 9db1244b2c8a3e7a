"""Test a trunk without placing a call."""

import ssl
from collections.abc import Sequence

from app.errors import Sentence
from app.gateways.carriers.partner_accounts import AccountTestResult
from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.next_hop import Hop, NoIPv4Address, first_hop, pinned_hop
from app.gateways.carriers.sip.probe import (
    ANSWER_SECONDS,
    ProbeConnection,
    ProbeReply,
    open_connection,
)
from app.gateways.carriers.sip.program import UNCHECKED, checks_certificates
from app.gateways.public_addresses import LookupFailed, PrivateAddress
from app.languages import gettext

_NO_NAME = Sentence.gettext(
    "DNS lookup failed for %(host)s. Compare it with what the provider wrote."
)
_NO_IPV4 = Sentence.gettext(
    "DNS lookup for %(host)s found no IPv4 address. Compare it with what the provider wrote."
)
_NOT_PUBLIC = Sentence.gettext(
    "The address of %(host)s is not public. Calls go out only to trunks that are on the internet."
)
_NO_ANSWER = Sentence.gettext("No answer from %(where)s within %(seconds)s seconds.")
_NOT_ENCRYPTED = Sentence.gettext("No encrypted connection to %(where)s: %(reason)s.")
_CONNECTION_REFUSED = Sentence.gettext("%(where)s refused the connection.")
_UNREACHED = Sentence.gettext("%(where)s can't be reached from here.")
_USER_REFUSED = Sentence.gettext("The trunk does not let this user register: %(answer)s.")
_PLATFORM_REFUSED = Sentence.gettext(
    "The trunk refuses us: %(answer)s. If it checks IP addresses, give the provider this "
    "platform’s address."
)
_FOREIGN_NUMBER = Sentence.gettext("The trunk does not let this number call: %(numbers)s.")
_FOREIGN_NUMBERS = Sentence.gettext("The trunk does not let these numbers call: %(numbers)s.")
_REFUSED = {403, 603, 607, 608}


class _TrunkFault(Exception):
    """A sentence about what is wrong."""


def check_trunk(account: SipAccount, numbers: Sequence[str]) -> AccountTestResult:
    """Test that the trunk is reachable, accepts the password if it requires one, and lets calls
    show the numbers."""
    if account.transport == "tls" and not checks_certificates(account.baresip):
        return AccountTestResult(False, UNCHECKED)
    try:
        hop = _next_hop(account)
        try:
            with open_connection(account, hop) as connection:
                return AccountTestResult(True, _check_account(connection, account, numbers))
        except OSError as error:
            where = "{}:{}".format(*hop) + f" over {account.transport.upper()}"
            raise _TrunkFault(_describe_error(error, where)) from None
    except _TrunkFault as fault:
        return AccountTestResult(False, str(fault))


def _next_hop(account: SipAccount) -> Hop:
    host, _port = first_hop(account)
    try:
        return pinned_hop(account)
    except PrivateAddress:
        raise _TrunkFault(_NOT_PUBLIC(host=host)) from None
    except NoIPv4Address:
        raise _TrunkFault(_NO_IPV4(host=host)) from None
    except LookupFailed:
        raise _TrunkFault(_NO_NAME(host=host)) from None


def _describe_error(error: OSError, target: str) -> str:
    if isinstance(error, TimeoutError):
        return _NO_ANSWER(where=target, seconds=f"{ANSWER_SECONDS:.0f}")
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "no agreement").replace("_", " ").lower()
        return _NOT_ENCRYPTED(where=target, reason=reason)
    if isinstance(error, ConnectionRefusedError):
        return _CONNECTION_REFUSED(where=target)
    return _UNREACHED(where=target)


def _check_account(connection: ProbeConnection, account: SipAccount, numbers: Sequence[str]) -> str:
    was_proved = False
    if account.registers:
        registration = connection.ask("REGISTER", account.user)
        _check_password(registration)
        if registration.code >= 300:
            raise _TrunkFault(_USER_REFUSED(answer=registration.message))
        was_proved = registration.proved
    greeting = connection.ask("OPTIONS", account.user or "portal")
    _check_password(greeting)
    if greeting.code in _REFUSED:
        raise _TrunkFault(_PLATFORM_REFUSED(answer=greeting.message))
    if account.shows_number:
        _check_numbers(connection, numbers)
    if not account.user:
        return gettext("The trunk answers.")
    if was_proved or greeting.proved:
        return gettext("The trunk answers and accepts the password.")
    return gettext(
        "The trunk answers, but didn't require a password yet. The first call shows whether the "
        "password is right."
    )


def _check_password(reply: ProbeReply) -> None:
    if reply.code not in {401, 407}:
        return
    if reply.proved:
        message = gettext("The trunk does not accept this user and password.")
    else:
        message = gettext("The trunk asks for a user and a password.")
    raise _TrunkFault(message)


def _check_numbers(connection: ProbeConnection, numbers: Sequence[str]) -> None:
    """Some trunks refuse foreign caller IDs at once, others only in a call."""
    foreign = [number for number in numbers if connection.ask("OPTIONS", number).code in _REFUSED]
    if foreign:
        sentence = _FOREIGN_NUMBER if len(foreign) == 1 else _FOREIGN_NUMBERS
        raise _TrunkFault(sentence(numbers=", ".join(foreign)))
