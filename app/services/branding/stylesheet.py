"""The brand's style sheet under a hash of its content."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from app.services.branding.shades import brand_shades, stylesheet


@dataclass(frozen=True, slots=True)
class Sheet:
    """``colour`` as ``#rrggbb``, ``digest`` of 16 hexadecimal digits, ``css`` as served."""

    colour: str
    digest: str
    css: str


@lru_cache(maxsize=512)
def sheet_for(colour: str) -> Sheet:
    """Return the sheet of a brand colour; the digest changes with the colour and the shades.

    Raises ValueError for no colour.
    """
    css = stylesheet(colour)
    return Sheet(brand_shades(colour).colour, sha256(css.encode()).hexdigest()[:16], css)
