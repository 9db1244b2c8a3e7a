"""Show numbers of a workbook as the spreadsheet shows them, by its number formats.

Follows ECMA-376 part 1, section 18.8.31, as far as contact lists need it: digits with leading zeros
and literals (``000-0000``), decimals, grouping, percent, dates and times. Formats that would lose
digits (scientific, fractions) and General show the exact number.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, Overflow
from operator import eq, ge, gt, le, lt, ne

Formatter = Callable[[str], str]

# Section 18.8.30: the formats that have a number and no text. 14 and 22 depend on the reader's
# country; they are shown the way that no country reads differently.
BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd hh:mm",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss",
}

_TOKEN = re.compile(
    r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|General|AM/PM|A/P|y+|m+|d+|h+|s+(?:\.0+)?|E[+-]|.',
    re.IGNORECASE | re.DOTALL,
)
_DATE = re.compile(r"[ymdhs]", re.IGNORECASE)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
_COMPARISONS = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "<>": ne}
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLACES = frozenset("0#?")


def without_exponent(value: str) -> str:
    """Return a stored number without an exponent, and without decimals that are zero."""
    if value.isdigit():
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.15g}".upper()


def formatter(code: str, *, epoch_1904: bool = False) -> Formatter:
    """Return the function from a stored number to its text in one number format."""
    sections = _split_sections(code)
    conditions = [_parse_condition(tokens) for tokens in sections]
    if not any(conditions):
        return _section_formatter(sections[0], epoch_1904=epoch_1904)
    formatters = [_section_formatter(tokens, epoch_1904=epoch_1904) for tokens in sections]
    choices = list(zip(conditions, formatters, strict=True))

    def show(value: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        fitting = (
            format_section for fits, format_section in choices if fits is None or fits(number)
        )
        return next(fitting, without_exponent)(value)

    return show


def _split_sections(code: str) -> list[list[str]]:
    """Return the tokens of a format, one list for each kind of number."""
    sections: list[list[str]] = [[]]
    for piece in _TOKEN.findall(code):
        if piece == ";":
            sections.append([])
        else:
            sections[-1].append(piece)
    return sections


def _parse_condition(tokens: list[str]) -> Callable[[float], bool] | None:
    """Return the numbers that a section is for (``[<=9999999]``); None if it has no condition."""
    match = next(filter(None, map(_CONDITION.fullmatch, tokens)), None)
    if match is None:
        return None
    compare, limit = _COMPARISONS[match[1]], float(match[2])
    return lambda number: compare(number, limit)


def _section_formatter(tokens: list[str], *, epoch_1904: bool) -> Formatter:
    bare = [token for token in tokens if token[0] not in '"\\_*[' or _is_elapsed(token)]
    joined = "".join(bare)
    if not joined or joined.lower() == "general" or "@" in joined:
        return without_exponent
    if _DATE.search(joined):
        return _date_formatter(tokens, epoch_1904=epoch_1904)
    if "/" in joined or any(token.upper() in {"E+", "E-"} for token in bare):
        return without_exponent
    return _number_formatter(tokens)


def _is_elapsed(token: str) -> bool:
    return token.lower().strip("[]") in {"h", "hh", "m", "mm", "s", "ss"} and token[0] == "["


def _literal_text(token: str) -> str:
    """Return what a token that isn't a placeholder prints."""
    if token[0] == '"':
        return token[1:-1]
    if token[0] == "\\":
        return token[1:]
    if token[0] == "_":
        return " "
    if token[0] == "[":
        # A currency: [$€-407]. Colours and conditions print nothing.
        return token[2:-1].partition("-")[0] if token.startswith("[$") else ""
    return "" if token[0] == "*" else token


def _number_formatter(pieces: list[str]) -> Formatter:
    point = pieces.index(".") if "." in pieces else len(pieces)
    whole, fraction = pieces[:point], pieces[point + 1 :]
    decimals = sum(piece in _PLACES for piece in fraction)
    positions = [index for index, piece in enumerate(whole) if piece in _PLACES]
    if not positions:
        return without_exponent
    inside = whole[positions[0] : positions[-1] + 1]
    grouping = "," in inside
    plain = all(piece in {"0", "#", "?", ","} for piece in inside)
    percent = "%" in pieces
    zeros = whole.count("0")
    before = "".join(map(_literal_text, whole[: positions[0]]))
    after = "".join(_literal_text(piece) for piece in fraction if piece not in _PLACES)
    rest_of_whole = (piece for piece in whole[positions[-1] + 1 :] if piece != ",")
    after = "".join(map(_literal_text, rest_of_whole)) + after

    def show(value: str) -> str:
        try:
            number = Decimal(value) * (100 if percent else 1)
            rounded = number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
        except (InvalidOperation, Overflow):
            return value
        if rounded.is_nan():
            return value
        digits, _, fractional = f"{abs(rounded):f}".partition(".")
        digits = (digits if digits != "0" else "").rjust(zeros, "0")
        if not plain:
            digits = _fill_places(inside, digits)
        elif grouping and digits:
            lead = len(digits) % 3 or 3
            digits = ",".join([digits[:lead], *re.findall(r"\d{3}", digits[lead:])])
        sign = "-" if rounded < 0 else ""
        return f"{sign}{before}{digits}{'.' + fractional if fractional else ''}{after}".strip()

    return show


def _fill_places(pieces: list[str], digits: str) -> str:
    """Put digits into places from the right; the leftmost place takes the rest."""
    remaining, output = list(digits), []
    last = next(index for index, piece in enumerate(pieces) if piece in _PLACES)
    for index in range(len(pieces) - 1, -1, -1):
        piece = pieces[index]
        if piece not in _PLACES:
            output.append("" if piece == "," else _literal_text(piece)[::-1])
        elif index == last:
            output.append("".join(reversed(remaining)) or ("0" if piece == "0" else ""))
        else:
            output.append(remaining.pop() if remaining else "0" if piece == "0" else "")
    return "".join(output)[::-1]


def _date_formatter(tokens: list[str], *, epoch_1904: bool) -> Formatter:
    lowered = [token.lower() for token in tokens]
    half_day = "am/pm" in lowered or "a/p" in lowered
    clock = [token for token in lowered if token[0] in "hmsdy" or _is_elapsed(token)]
    minutes = {index for index in range(len(clock)) if _is_minute(clock, index)}

    def show(value: str) -> str:
        try:
            serial = float(value)
            moment = _to_datetime(serial, epoch_1904=epoch_1904)
        except (ValueError, OverflowError):
            return without_exponent(value)
        output, clock_index = [], 0
        for token, low in zip(tokens, lowered, strict=True):
            if low[0] in "hmsdy" or _is_elapsed(low):
                output.append(
                    _format_clock_token(
                        low, moment, serial, minute=clock_index in minutes, half_day=half_day
                    )
                )
                clock_index += 1
            elif low in {"am/pm", "a/p"}:
                output.append("AM" if moment.hour < 12 else "PM")
            else:
                output.append(_literal_text(token))
        return "".join(output).strip()

    return show


def _is_minute(clock: list[str], index: int) -> bool:
    """Return whether an m is a minute: after hours or before seconds; else it is a month."""
    after_hours = index > 0 and clock[index - 1].strip("[")[0] == "h"
    before_seconds = index + 1 < len(clock) and clock[index + 1].strip("[")[0] == "s"
    return clock[index][0] == "m" and (after_hours or before_seconds)


def _to_datetime(serial: float, *, epoch_1904: bool) -> datetime:
    """Return the date of a serial number, section 18.17.4.1. The 1900 system counts 29 February
    1900, which never existed."""
    if serial < 0:
        message = "before the epoch"
        raise ValueError(message)
    epoch = date(1904, 1, 1) if epoch_1904 else date(1899, 12, 30 if serial >= 60 else 31)
    return datetime.combine(epoch, time()) + timedelta(seconds=round(serial * 86400))


def _format_clock_token(  # noqa: PLR0911 one line for each letter of the format
    token: str, moment: datetime, serial: float, *, minute: bool, half_day: bool
) -> str:
    size = len(token)
    if token[0] == "[":
        seconds = round(serial * 86400)
        return str(seconds // {"h": 3600, "m": 60, "s": 1}[token[1]])
    if token[0] == "y":
        return f"{moment:%Y}" if size > 2 else f"{moment:%y}"
    if token[0] == "d":
        if size > 2:
            return _DAYS[moment.weekday()][: 3 if size == 3 else None]
        return f"{moment.day:0{size}}"
    if token[0] == "m" and not minute:
        if size > 2:
            return _MONTHS[moment.month - 1][: 3 if size == 3 else None]
        return f"{moment.month:0{size}}"
    if token[0] == "h":
        hour = (moment.hour % 12 or 12) if half_day else moment.hour
        return f"{hour:0{min(size, 2)}}"
    if token[0] == "m":
        return f"{moment.minute:0{min(size, 2)}}"
    whole, point, fraction = token.partition(".")
    return f"{moment.second:0{min(len(whole), 2)}}{point}{'0' * len(fraction)}"
