"""Clean values: invisible marks, digits of other scripts, surrounding words."""

import re
import unicodedata

_NEVER_SEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
_JOINERS = re.compile("[\u200c\u200d]")
"""Joiners shape words of some scripts, so they stay in names."""
_FULL_WIDTH = re.compile("[\uff01-\uff5e]")
# Begins with one set of letters, which `re` finds faster than an alternative.
_TWICE_ENCODED = re.compile(
    "[\u00c2-\u00c5\u00e2](?:\u20ac|(?<!\u00e2)[\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e"
    "\u0192\u02c6\u02dc\u2013-\u203a\u2122])"
)
"""What an accented letter or a curly quote becomes when its UTF-8 is read as Windows-1252."""
_QUOTED_FORMULA = re.compile(r'="([^"]*)"')
_NUMBER = re.compile(r"[+(]{0,2}\d[\d\s().\-/\u00a0\u2010-\u2014\u2212]*\d")
_LABELS = frozenset(
    {
        "tel",
        "telephone",
        "phone",
        "ph",
        "mobile",
        "mob",
        "cell",
        "cellphone",
        "no",
        "number",
        "m",
        "p",
        "t",
        "h",
        "w",
        "c",
        "o",
        "home",
        "work",
        "office",
        "main",
        "direct",
        "primary",
        "personal",
        "private",
        "business",
        "day",
        "evening",
        "call",
        "whatsapp",
        "landline",
        "telefon",
        "handy",
        "mobil",
        "privat",
        "geschäftlich",
        "dienstlich",
        "arbeit",
        "zuhause",
        "rufnummer",
        "tél",
        "téléphone",
        "portable",
        "domicile",
        "bureau",
        "móvil",
        "celular",
        "teléfono",
        "casa",
        "trabajo",
        "oficina",
        "email",
        "e-mail",
        "mail",
        "mailto",
    }
)
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_DISPLAY_NAME = re.compile(r"[^<>@]*<(?:mailto:)?\s*([^<>\s]+@[^<>\s]+)\s*>")
_ADDRESS = re.compile(r"[^\s<>()\[\]:;,\"]+@[^\s<>()\[\]:;,\"]+")
_MAX_SEARCHED = 1000
"""Maximum characters that are searched for an address, because the time grows with their square."""
_RUNS = ("1234567890", "0123456789", "123456789", "12345678", "1234567", "0987654321", "9876543210")


def without_invisible(text: str, *, joiners: bool) -> str:
    """Return the text without invisible marks; ``joiners`` removes joiners too, for values that
    need none."""
    cleaned = _NEVER_SEEN.sub("", text)
    return (_JOINERS.sub("", cleaned) if joiners else cleaned).strip()


def may_be_twice_encoded(text: str) -> bool:
    return _TWICE_ENCODED.search(text) is not None


def decoded_again(text: str) -> str | None:
    """Return what a text was before its UTF-8 was read as another encoding (``MÃ¼ller`` ->
    ``Müller``); None if it was not."""
    if not may_be_twice_encoded(text):
        return None
    for encoding in ("cp1252", "latin-1"):
        try:
            return text.encode(encoding).decode()
        except UnicodeError:
            continue
    return None


def western_digits(text: str) -> str:
    """Write digits of other scripts as 0 to 9, and full-width characters as plain ones."""
    return "".join(
        str(unicodedata.decimal(c))
        if c.isdecimal()
        else unicodedata.normalize("NFKC", c)
        if _FULL_WIDTH.match(c)
        else c
        for c in text
    )


def narrow(text: str) -> str:
    """Write full-width characters as plain ones."""
    return _FULL_WIDTH.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)


def quoted_formula(text: str) -> str | None:
    """Return the text of a formula that only contains it, such as ``="0170 123"``, as exports write
    it."""
    match = _QUOTED_FORMULA.fullmatch(text)
    return match[1].strip() if match else None


def number_within(text: str) -> str | None:
    """Return the only number of a text whose other words are labels (``Tel.: …``)."""
    if not any(map(str.isalpha, text)):
        return None
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1:
        return None
    before, number, after = text.partition(numbers[0])
    if any(c.isdigit() or c in "+@" for c in before + after):
        return None
    if before[-1:].isalpha() or after[:1].isalpha() or not _only_labels(before + " " + after):
        return None
    return number.strip()


def address_within(text: str) -> str | None:
    """Return the only address of a text that also has a name or a label."""
    if len(text) > _MAX_SEARCHED:
        return None
    if match := _DISPLAY_NAME.fullmatch(text):
        return match[1]
    addresses = _ADDRESS.findall(text)
    if len(addresses) != 1 or addresses[0] == text:
        return None
    address = addresses[0].rstrip(".")
    before, _, after = text.partition(addresses[0])
    return address if _only_labels(f"{before} {after}") else None


def _only_labels(text: str) -> bool:
    return all(word.casefold() in _LABELS for word in _WORDS.findall(text))


def is_filler(text: str) -> bool:
    """Return whether a number is one digit repeated, or the digits in order."""
    digits = "".join(c for c in text if c.isdigit())
    if len(digits) < 7 or any(map(str.isalpha, text)):
        return False
    if len(digits) == 11 and digits[0] == "1":
        digits = digits[1:]
    same = len(set(digits)) == 1 and (len(digits) > 8 or digits[0] in "019")
    return same or digits in _RUNS
