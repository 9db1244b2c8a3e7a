"""Email addresses: one check for every place that accepts one."""

import re

MAX_LENGTH = 254
"""Characters of an address (RFC 5321, section 4.5.3.1, as corrected by its errata)."""


_MORE = r"\u00a1-\u1fff\u3040-\ud7ff"
"""Letters outside ASCII."""
_ATOM = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~{_MORE}-]+"
_LABEL = rf"[A-Za-z0-9{_MORE}](?:[A-Za-z0-9{_MORE}-]{{0,61}}[A-Za-z0-9{_MORE}])?"
_TOP = rf"[A-Za-z{_MORE}](?:[A-Za-z0-9{_MORE}-]{{0,61}}[A-Za-z0-9{_MORE}])"
_ADDRESS = rf"{_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+{_TOP}"

PATTERN = f"^{_ADDRESS}$"
"""The rule as JSON Schema writes it; the check refuses invisible characters too.

Quoted local parts and address literals are refused by both.
"""

_ordinary = re.compile(
    r"[A-Za-z0-9_+-]++(?:\.[A-Za-z0-9_+-]++)*+@(?:[a-z0-9]++(?:-[a-z0-9]++)*+\.)+[a-z]{2,}"
).fullmatch
"""The form of nearly every address; one of up to 64 characters needs no further check."""


def is_email(value: str) -> bool:
    """Return whether the text has the form of an email address: ``name@host.domain``."""
    if len(value) <= 64 and _ordinary(value):
        return True
    # Compiled (and kept) by `re` at the first use: the large sets of letters take long.
    fits = len(value) <= MAX_LENGTH and re.fullmatch(_ADDRESS, value) is not None
    return fits and value.isprintable()
