"""URLs that are shown on a page: one check, used when they are stored and when they are served.

Accepted are http and https URLs with a host name and, for header links, mailto and tel. User
information, control characters, spaces, quotes, angle brackets and backslashes (which browsers read
as slashes) are refused, so an accepted URL is safe inside an attribute.
"""

import re

from app.validation.emails import is_email

MAX_LENGTH = 2000

_LETTERS = r"A-Za-z0-9\u00a1-\u1fff\u3040-\ud7ff"
"""Characters of host names, without those that browsers read as a slash, colon or at-sign."""
_LABEL = rf"[{_LETTERS}](?:[{_LETTERS}-]{{0,61}}[{_LETTERS}])?"
_PORT_NUMBERS = (
    r"[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
)
_PORT = rf"(?::(?:{_PORT_NUMBERS}))?"
_REST = r'(?:[/?#][^\u0000-\u0020\u007f-\u00a0"<>\\]*)?'
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"
_WEB = rf"[Hh][Tt][Tt][Pp][Ss]?://{_HOST}{_PORT}{_REST}"
_TEL = r"[Tt][Ee][Ll]:\+?[0-9](?:[0-9().-]{0,30}[0-9])?"
_SIP = (
    rf"[Ss][Ii][Pp][Ss]?:(?P<user>[A-Za-z0-9_+.-]{{1,64}})@(?P<sip_host>{_HOST}){_PORT}"
    r"(?:;[Tt][Rr][Aa][Nn][Ss][Pp][Oo][Rr][Tt]=(?:[Uu][Dd][Pp]|[Tt][Cc][Pp]|[Tt][Ll][Ss]))?"
)
_STREAM = rf"(?:[Ww][Ss][Ss]|[Hh][Tt][Tt][Pp][Ss])://(?P<host>{_HOST}){_PORT}{_REST}"
_MAIL_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}"
_MAILTO = rf"[Mm][Aa][Ii][Ll][Tt][Oo]:[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@{_MAIL_HOST}"

WEB_PATTERN = rf"^{_WEB}$"
LINK_PATTERN = rf"^(?:{_WEB}|{_MAILTO}|{_TEL})$"
"""The rules as JSON Schema writes them; the check uses the same text."""

_VOICE = rf"(?:{_SIP}|{_STREAM})"

# The rules are compiled (and kept) by `re` at their first use: the large sets of letters take long.


def is_web_url(value: str) -> bool:
    """Whether it is an http or https URL that may be linked, loaded or redirected to."""
    return len(value) <= MAX_LENGTH and re.fullmatch(_WEB, value) is not None


def is_link(value: str) -> bool:
    """Whether it is allowed as a header link: as `is_web_url`, or a mailto or tel URL."""
    if is_web_url(value) or re.fullmatch(_TEL, value):
        return True
    return re.fullmatch(_MAILTO, value) is not None and is_email(value.partition(":")[2])


def is_voice_address(value: str) -> bool:
    """Return whether calls can be handed over to the URL: a SIP address (sip: or sips:) without
    parameters except ``transport``, or an encrypted stream (wss: or https:)."""
    return len(value) <= MAX_LENGTH and value.isascii() and re.fullmatch(_VOICE, value) is not None


def parts_of_voice_address(value: str) -> tuple[str | None, str]:
    """Return the user (None for a stream) and the host of an address that passes
    `is_voice_address`."""
    match = re.fullmatch(_VOICE, value)
    if match is None:
        message = "not a voice address"
        raise ValueError(message)
    return match["user"], match["sip_host"] or match["host"]
