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

_international = re.compile(_address(r"\u00a1-\u1fff\u3040-\ud7ff"))
_ordinary = re.compile(
    r"[A-Za-z0-9_+-]++(?:\.[A-Za-z0-9_+-]++)*+@(?:[a-z0-9]++(?:-[a-z0-9]++)*+\.)+[a-z]{2,}"
).fullmatch
"""What nearly every address looks like; up to 64 characters of it need no second look."""


def is_email(value: str) -> bool:
    """Whether mail can be sent to it, as far as its form tells: ``name@host.domain``."""
    if len(value) <= 64 and _ordinary(value):
        return True
    fits = len(value) <= MAX_LENGTH and _international.fullmatch(value) is not None
    return fits and value.isprintable()
