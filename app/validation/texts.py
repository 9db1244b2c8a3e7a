"""Texts that may hold anything, such as what users and scripts send."""


def trimmed(text: str | None) -> str:
    """Return the text without surrounding spaces and without NUL, which databases refuse; empty
    for None."""
    return (text or "").replace("\0", "").strip()


def whole_number(text: str | None, most_digits: int) -> int | None:
    """Return the number that at most so many digits (0 to 9) are; None for any other text."""
    if text and text.isascii() and text.isdigit() and len(text) <= most_digits:
        return int(text)
    return None
