"""E-mail addresses: one check for every place that takes one."""

import re

MAX_LENGTH = 254
"""Characters of an address (RFC 5321, section 4.5.3.1, as corrected by its errata)."""


def _address(more: str) -> str:
    """The form of an address; ``more`` are letters beyond ASCII that it may hold."""
    atom = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~{more}-]+"
    label = rf"[A-Za-z0-9{more}](?:[A-Za-z0-9{more}-]{{0,61}}[A-Za-z0-9{more}])?"
    top = rf"[A-Za-z{more}](?:[A-Za-z0-9{more}-]{{0,61}}[A-Za-z0-9{more}])"
    return rf"{atom}(?:\.{atom})*@(?:{label}\.)+{top}"


PATTERN = f"^{_address('')}$"
"""The rule as JSON Schema writes it; the check takes letters beyond ASCII too.

Quoted local parts and address literals are refused by both.
"""

_international = re.compile(_address(r"\u00a1-\uffff"))


def is_email(value: str) -> bool:
    """Whether mail can be sent to it, as far as its form tells: ``name@host.domain``."""
    if len(value) > MAX_LENGTH or not _international.fullmatch(value):
        return False
    return value.index("@") <= 64 and value.isprintable()
