"""The valid fields of an account.

A trunk's fields become part of a SIP phone's account line and addresses, where some characters have
a special meaning. So only characters without one are allowed.
"""

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

from app.enums import CarrierKind
from app.errors import Problem, raise_problems
from app.gateways.carriers.sip.account import Trunk
from app.gateways.carriers.sip.next_hop import PORTS
from app.gateways.carriers.twilio.account import is_installed
from app.gateways.public_addresses import is_public
from app.languages import gettext, lazy_gettext
from app.models import CarrierAccount

MAX_HOST_LENGTH = 100
MAX_USER_LENGTH = 64
MAX_SECRET_LENGTH = 200
_SID = re.compile(r"AC[0-9a-f]{32}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_HOST = re.compile(
    rf"(?=.{{1,{MAX_HOST_LENGTH}}}\Z)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::([0-9]{{1,5}}))?"
)
_USER = re.compile(rf"[A-Za-z0-9+][A-Za-z0-9._+-]{{0,{MAX_USER_LENGTH - 1}}}")
_PASSWORD = re.compile(rf"""[!#-&(-:=?-\[\]-~]{{1,{MAX_SECRET_LENGTH}}}""")
HOST_MESSAGE = lazy_gettext("Enter host or host:port, with letters, digits, dots and hyphens.")


@dataclass(frozen=True, slots=True)
class AccountFields:
    """The fields of an account: the ``sid`` of a Twilio account and its token, or a ``trunk`` and
    its user's password. An empty secret keeps the stored one."""

    secret: str = field(repr=False)
    sid: str = ""
    trunk: Trunk | None = None

    @property
    def kind(self) -> CarrierKind:
        return CarrierKind.SIP if self.trunk else CarrierKind.TWILIO

    @property
    def secret_name(self) -> str:
        return "password" if self.trunk else "token"

    def is_same_as(self, account: CarrierAccount) -> bool:
        """Whether both describe the same account. A stored password is sent only to the server that
        it was entered for."""
        stored = trunk_of(account)
        if self.trunk is None or stored is None:
            return self.kind is account.carrier and self.sid == account.sid
        server = self.trunk.address, self.trunk.proxy, self.trunk.user
        return server == (stored.address, stored.proxy, stored.user)


def check(fields: AccountFields, *, may_be_empty: bool, may_be_private: bool) -> None:
    """Check the fields before they are saved. A name is resolved by the worker, for each test and
    call; an IP address is checked here. Raises `ValidationFailed` with all problems; the code is
    ``invalid_`` and the field's name, ``user_required``, ``password_required`` or
    ``private_address``."""
    if fields.trunk is None:
        problems = [*_twilio_problems(fields.sid, fields.secret, may_be_empty)]
    else:
        problems = [*_trunk_problems(fields.trunk, may_be_private)]
        problems += _password_problems(fields.trunk, fields.secret, may_be_empty)
    raise_problems(problems)


def _twilio_problems(sid: str, token: str, may_be_empty: bool) -> Iterator[Problem]:
    if not is_installed():
        message = gettext("Twilio support isn’t installed here. Ask the operator of the portal.")
        yield Problem("sid", "not_installed", message)
    if not _SID.fullmatch(sid):
        message = gettext("An account's SID is AC and 32 characters from 0 to 9 and a to f.")
        yield Problem("sid", "invalid_sid", message)
    if not token and not may_be_empty:
        message = gettext("Enter the token from the Twilio console.")
        yield Problem("token", "invalid_token", message)
    elif token and not _TOKEN.fullmatch(token):
        message = gettext(
            "A token is 32 characters from 0 to 9 and a to f. Copy it from the Twilio console."
        )
        yield Problem("token", "invalid_token", message)


def _trunk_problems(trunk: Trunk, may_be_private: bool) -> Iterator[Problem]:
    for name, needed in (("address", True), ("domain", False), ("proxy", False)):
        value = getattr(trunk, name)
        if (value or needed) and not _is_host(value):
            yield Problem(name, f"invalid_{name}", str(HOST_MESSAGE))
    if not may_be_private:
        yield from _private_problems(trunk)
    if trunk.transport not in PORTS:
        yield Problem("transport", "invalid_transport", gettext("Choose UDP, TCP or TLS."))
    if trunk.user and not _USER.fullmatch(trunk.user):
        message = gettext("Use only letters, digits, dots, hyphens, underscores and + in a user.")
        yield Problem("user", "invalid_user", message)
    if not trunk.user and trunk.registers:
        yield Problem("user", "user_required", gettext("Enter a user and a password to register."))
    elif not trunk.user and not trunk.shows_number:
        yield Problem(
            "user", "user_required", gettext("Enter the user that is shown as the caller.")
        )


def _private_problems(trunk: Trunk) -> Iterator[Problem]:
    """Problems of IP addresses, and of names that are private without a lookup."""
    field_name = "proxy" if trunk.proxy else "address"
    host = getattr(trunk, field_name).partition(":")[0].lower()
    try:
        is_private = not is_public(IPv4Address(socket.inet_aton(host)))
    except (OSError, ValueError):
        is_private = host == "localhost" or host.endswith(".localhost")
    if is_private:
        message = gettext("This host's address is not public. Enter a host on the internet.")
        yield Problem(field_name, "private_address", message)


def _password_problems(trunk: Trunk, password: str, may_be_empty: bool) -> Iterator[Problem]:
    if password and not trunk.user:
        yield Problem("user", "user_required", gettext("Enter the user of this password."))
    if trunk.user and not password and not may_be_empty:
        yield Problem("password", "password_required", gettext("Enter the user's password."))
    if password and not _PASSWORD.fullmatch(password):
        message = gettext(
            "A password can't hold spaces, quotes, semicolons, angle brackets, backslashes or "
            "letters beyond ASCII here: have the provider set another."
        )
        yield Problem("password", "invalid_password", message)


def _is_host(text: str) -> bool:
    match = _HOST.fullmatch(text)
    return match is not None and (match[1] is None or 0 < int(match[1]) < 65536)


def trunk_of(account: CarrierAccount) -> Trunk | None:
    """Return the stored trunk; None for an account of another kind."""
    return Trunk(**account.trunk) if account.trunk is not None else None


def audit_values(account: CarrierAccount) -> dict[str, Any]:
    """Return the fields that the history shows."""
    return dict(account.trunk) if account.trunk is not None else {"sid": account.sid}
