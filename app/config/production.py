"""The settings that production refuses, each with its message."""

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

MIN_SECRET_CHARACTERS = 32
MIN_SECRET_BITS = 80
"""Minimum result of `secret_bits`. 32 random hexadecimals have about 115, the lowest of 100,000 has
85; 24 bytes of `secrets.token_urlsafe` have about 150."""
MAX_TOKEN_SECONDS = 24 * 3600

_OFF = frozenset({"", "0", "false", "no"})
"""Values that Flask reads as debugging off."""


def secret_bits(secret: str) -> float:
    """Estimate how many bits it takes to guess a secret, by its characters.

    A repeated part counts once, and a run such as ``abcdef`` or ``1111`` as one character.
    """
    unit = secret[: _repeat_length(secret)]
    steps = [ord(b) - ord(a) for a, b in pairwise(unit)]
    reduced = unit[:2] + "".join(
        unit[position]
        for position in range(2, len(unit))
        if not (steps[position - 1] == steps[position - 2] and abs(steps[position - 1]) <= 1)
    )
    counts = Counter(reduced).values()
    return -sum(count * math.log2(count / len(reduced)) for count in counts)


def _repeat_length(text: str) -> int:
    """Return the length of the shortest part that the text repeats; the last repetition may be
    incomplete."""
    return next(p for p in range(1, len(text) + 2) if text[p:] == text[: max(0, len(text) - p)])


def refusals(
    secret: str, token_seconds: int, addresses: Mapping[str, str], tests_only: Mapping[str, bool]
) -> Iterator[str]:
    """Yield every message. ``addresses`` and ``tests_only`` are settings by the names of
    variables."""
    if len(secret) < MIN_SECRET_CHARACTERS:
        yield "PORTAL_SECRET_KEY must be set to at least 32 characters in production."
    elif secret_bits(secret) < MIN_SECRET_BITS:
        yield (
            "PORTAL_SECRET_KEY is easy to guess: it repeats characters or parts. Make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    for name, address in addresses.items():
        if address and not address.startswith("https://"):
            yield f"{name} must start with https:// in production."
    if os.environ.get("FLASK_DEBUG", "").lower() not in _OFF:
        yield "FLASK_DEBUG must not be set in production: its pages show code and settings."
    if token_seconds > MAX_TOKEN_SECONDS:
        yield "PORTAL_TOKEN_SECONDS must be at most 86400 (a day) in production."
    for name, is_set in tests_only.items():
        if is_set:
            yield f"{name} is for tests; it can't be set in production."
