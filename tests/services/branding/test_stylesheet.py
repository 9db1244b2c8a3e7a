"""The sheet's address follows its content; without a brand the neutral shades are built in."""

from hashlib import sha256

from app.config import ROOT
from app.services.branding.brand import NEUTRAL_COLOUR
from app.services.branding.shades import BrandStylesheet, sheet_for, stylesheet


def test_the_address_is_a_hash_of_the_content() -> None:
    css = stylesheet("#ffc800")
    digest = sha256(css.encode()).hexdigest()[:16]
    assert sheet_for("#FFC800") == BrandStylesheet("#ffc800", digest, css)


def test_pages_have_the_neutral_shades_before_any_brand_is_known() -> None:
    built_in = (ROOT / "static" / "css" / "brand_neutral.css").read_text()
    assert built_in == stylesheet(NEUTRAL_COLOUR)
