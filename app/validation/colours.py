"""Colours of a brand: one check, used when they are stored and when they are served.

Accepted are ``#rgb``, ``#rrggbb``, ``rgb()``, ``hsl()`` and the CSS colour names, all opaque: the
contrast of a transparent colour can't be computed.
"""

import re

NAMES = """
aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue
blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk
crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki
darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue
dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite
gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki
lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen
lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen
magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen
mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream
mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid
palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum
powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown
seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen
steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen
""".split()  # noqa: SIM905 - as many lines as names otherwise
"""The colour names of CSS, written out: the libraries that have them take megabytes."""

_N = r"[0-9]{1,3}(?:\.[0-9]{1,6})?"
_P = rf"{_N}%"
_S = r" {0,3}"
_COMMA = rf"{_S},{_S}"


def _three_components(first: str, second: str, third: str) -> str:
    """Match three components, all separated by commas or all by blanks."""
    spaced = rf"{first} {{1,3}}{second} {{1,3}}{third}"
    return rf"\({_S}(?:{first}{_COMMA}{second}{_COMMA}{third}|{spaced}){_S}\)"


def _any_case(word: str) -> str:
    """Match the word in small or capital letters, for dialects of patterns without flags."""
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


_NAMES = "|".join(_any_case(name) for name in NAMES)
_RGB = rf"{_any_case('rgb')}(?:{_three_components(_N, _N, _N)}|{_three_components(_P, _P, _P)})"
_DEGREES = rf"{_N}(?:{_any_case('deg')})?"
_HSL = rf"{_any_case('hsl')}{_three_components(_DEGREES, _P, _P)}"

PATTERN = rf"^(?:#[0-9A-Fa-f]{{3}}|#[0-9A-Fa-f]{{6}}|{_RGB}|{_HSL}|{_NAMES})$"
"""The rule, as JSON Schema writes it."""

_colour = re.compile(PATTERN.removeprefix("^").removesuffix("$"), re.ASCII)


def is_colour(value: str) -> bool:
    return _colour.fullmatch(value) is not None


def to_hex(value: str) -> str:
    """Return the colour as ``#rrggbb``, the only form in style sheets and pages.

    Raises ValueError for what `is_colour` refuses. Components beyond their range are clipped.
    """
    if not is_colour(value):
        message = f"not a colour: {value!r}"
        raise ValueError(message)
    from coloraide import Color

    colour = Color(value.lower()).convert("srgb").clip()
    return colour.to_string(hex=True, compress=False, fit=False)
