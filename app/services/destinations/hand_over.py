"""The targets of hand-overs: the voice URL, its host and the number in it.

Nothing is looked up here: the worker does so right before it places a call.
"""

import ipaddress
import re
from collections.abc import Iterable

from app.errors import Sentence, translate_stored
from app.gateways.public_addresses import is_public
from app.phone import PhoneError, check_dialable
from app.services.destinations.layers import CallDestinations
from app.validation.urls import is_voice_address, parts_of_voice_address

SHAPE = str(
    Sentence.gettext(
        "Enter a SIP address like sip:assistant@voice.example, or a stream address that begins "
        "with wss:// or https://."
    )
)
_OPERATOR_ALLOWS = Sentence.gettext(
    "Calls can't be handed over to %(host)s. Only the platform operator can allow it."
)
_PARTNER_ALLOWS = Sentence.gettext(
    "Calls can't be handed over to %(host)s. A partner admin can allow this host in the portal's "
    "settings."
)
_NUMERIC = re.compile(r"[0-9+.-]*[0-9][0-9+.-]*")
_PRIVATE_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa")


def host_of(address: str) -> str:
    """Return the host of a voice URL, in lower case."""
    return parts_of_voice_address(address)[1].lower()


def shape_refusal(address: str) -> str | None:
    """Return that the text isn't a voice URL, as a sentence; None if it is one."""
    return None if is_voice_address(address) else translate_stored(SHAPE)


def hand_over_refusal(address: str, destinations: CallDestinations) -> str | None:
    """Return why calls may not be handed over to the URL, as a sentence; None if they may."""
    if refusal := shape_refusal(address):
        return refusal
    user, host = parts_of_voice_address(address)
    if user is not None and _NUMERIC.fullmatch(user):
        try:
            check_dialable(user, destinations.regions)
        except PhoneError as error:
            return error.message
    if not all(hosts is None or covers_host(hosts, host) for hosts in destinations.operator_hosts):
        return _OPERATOR_ALLOWS(host=host)
    if not covers_host(destinations.partner_hosts, host):
        return _PARTNER_ALLOWS(host=host)
    return None


def covers_host(patterns: Iterable[str], host: str) -> bool:
    """Return whether the pattern is the host, or ``*.`` and a domain that the host is below."""
    host = host.lower()
    return any(
        host == pattern or (pattern.startswith("*.") and host.endswith(pattern[1:]))
        for pattern in patterns
    )


def is_private_host(host: str) -> bool:
    """Return whether the host is certainly private, by its name alone. A host that ends in a number
    must be an IPv4 address in its usual form: other forms are ambiguous."""
    *_, last = labels = host.lower().split(".")
    if last.isdigit() or last.startswith("0x"):
        try:
            return not is_public(ipaddress.IPv4Address(host))
        except ValueError:
            return True
    return len(labels) == 1 or host.lower().endswith(tuple(f".{name}" for name in _PRIVATE_NAMES))
