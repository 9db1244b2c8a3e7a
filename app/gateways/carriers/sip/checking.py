"""Test a trunk without placing a call."""

import ssl
from collections.abc import Sequence

from app.gateways.carriers.partner_accounts import Finding
from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.next_hop import Hop, pinned_hop
from app.gateways.carriers.sip.probe import ANSWER_SECONDS, Line, Reply, opened
from app.gateways.carriers.sip.program import UNCHECKED, checks_certificates
from app.gateways.public_addresses import NoPlace, NotPublic

COMPARE = "Compare it with what the provider wrote."
NOT_PUBLIC = "Calls go out only to trunks that are on the internet."
_REFUSED = {403, 603, 607, 608}


class _Fault(Exception):
    """What is wrong, in a sentence."""


def tested(account: SipAccount, numbers: Sequence[str]) -> Finding:
    """Reach the trunk, prove the password if the trunk asks for it, and check whether the numbers
    may be shown as the caller."""
    if account.transport == "tls" and not checks_certificates(account.baresip):
        return Finding(False, UNCHECKED)
    try:
        hop = _found(account)
        try:
            with opened(account, hop) as line:
                return Finding(True, _asked(line, account, numbers))
        except OSError as error:
            where = "{}:{}".format(*hop) + f" over {account.transport.upper()}"
            raise _Fault(_why(error, where)) from None
    except _Fault as fault:
        return Finding(False, str(fault))


def _found(account: SipAccount) -> Hop:
    try:
        return pinned_hop(account)
    except NoPlace as reason:
        words = str(reason)
        advice = NOT_PUBLIC if isinstance(reason, NotPublic) else COMPARE
        message = f"{words[:1].upper()}{words[1:]}. {advice}"
        raise _Fault(message) from None


def _why(error: OSError, where: str) -> str:
    if isinstance(error, TimeoutError):
        return f"No answer from {where} within {ANSWER_SECONDS:.0f} seconds."
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "no agreement").replace("_", " ").lower()
        return f"No encrypted connection to {where}: {reason}."
    if isinstance(error, ConnectionRefusedError):
        return f"{where} refused the connection."
    return f"{where} can't be reached from here."


def _asked(line: Line, account: SipAccount, numbers: Sequence[str]) -> str:
    was_proved = False
    if account.registers:
        registration = line.ask("REGISTER", account.user)
        _check_password(registration)
        if registration.code >= 300:
            message = f"The trunk does not let this user register: {registration.words}."
            raise _Fault(message)
        was_proved = registration.proved
    greeting = line.ask("OPTIONS", account.user or "portal")
    _check_password(greeting)
    if greeting.code in _REFUSED:
        message = (
            f"The trunk refuses us: {greeting.words}. If it checks IP addresses, give the "
            "provider this platform’s address."
        )
        raise _Fault(message)
    if account.shows_number:
        _check_numbers(line, numbers)
    if not account.user:
        return "The trunk answers."
    if was_proved or greeting.proved:
        return "The trunk answers and accepts the password."
    return (
        "The trunk answers. It asked for no password yet. The first call shows whether it is right."
    )


def _check_password(reply: Reply) -> None:
    if reply.code not in {401, 407}:
        return
    if reply.proved:
        message = "The trunk does not accept this user and password."
    else:
        message = "The trunk asks for a user and a password."
    raise _Fault(message)


def _check_numbers(line: Line, numbers: Sequence[str]) -> None:
    """Some trunks refuse foreign caller IDs at once, others only in a call."""
    foreign = [number for number in numbers if line.ask("OPTIONS", number).code in _REFUSED]
    if foreign:
        may = "this number" if len(foreign) == 1 else "these numbers"
        message = f"The trunk does not let {may} call: {', '.join(foreign)}."
        raise _Fault(message)
