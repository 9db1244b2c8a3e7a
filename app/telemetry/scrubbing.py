"""Removes personal data and secrets from texts of log lines and error reports.

The portal's own messages hold none. But errors quote their input: a database the values of a
constraint, a library its argument, the web server the URL of a request.
"""

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Key \(([^)\n]*)\)=\([^\n]*\)"), r"Key (\1)=(…)"),
    (re.compile(r"Failing row contains \([^\n]*\)"), "Failing row contains (…)"),
    (re.compile(r"\binput_value=[^\n]*?, input_type="), "input_value=…, input_type="),
    (re.compile(r"(/[\w./%~-]*)\?[\w%][^\s\"'>]*"), r"\1?…"),
    (re.compile(r"(/(?:password|invitation|email)/)[\w-]{12,}"), r"\1…"),
    (re.compile(r"[\w.+%-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+"), "[email]"),
    (re.compile(r"\b(?:ppk|sk|rk|pk|whsec)_[\w-]{8,}"), "[secret]"),
    (re.compile(r"\beyJ[\w-]{10,}(?:\.[\w-]+)*"), "[token]"),
    (re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]{8,}"), r"\1 [token]"),
    (re.compile(r"\b([\w+]+://)[^/\s:@]+:[^/\s@]+@"), r"\1[secret]@"),
    (re.compile(r"(?<![\w-])(?:\+|%2[Bb])\d(?:[ ().-]?\d){6,14}(?!\d)"), "[number]"),
    (re.compile(r"(?<![\w.:-])\d{10,15}(?![\w-])"), "[number]"),
)


def scrub(text: str) -> str:
    """Return the text without email addresses, phone numbers, keys, tokens, query strings and the
    values that a database or a check of the input refused."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text
