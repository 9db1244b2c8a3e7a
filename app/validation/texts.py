"""Texts with any content, such as those from users and scripts."""


def trim(text: str | None) -> str:
    """Return the text without surrounding spaces and without NUL, which databases refuse; empty
    for None."""
    return (text or "").replace("\0", "").strip()


def whole_number(text: str | None, max_digits: int) -> int | None:
    """Return the value of a text of at most ``max_digits`` digits (0 to 9); None for any other
    text."""
    if text and text.isascii() and text.isdigit() and len(text) <= max_digits:
        return int(text)
    return None
