"""Regions to choose from."""

from collections.abc import Collection, Iterable

from wtforms import SelectChoice

from app.phone import regions

USUAL_REGIONS = ("US", "CA", "GB", "IE", "AU", "NZ", "DE", "AT", "CH", "FR", "ES", "IT", "NL")
"""Offered first; the others follow on request."""
FEW = 24
"""So many regions are all offered at once."""


def named_regions() -> list[SelectChoice]:
    """Every region with its name as a list shows it: without the article, in capitals first."""
    found = [(code, name.removeprefix("the ")) for code, name in regions()]
    return [SelectChoice(code, name[0].upper() + name[1:]) for code, name in found]


def offered_first(choices: Iterable[SelectChoice], chosen: Collection[str]) -> set[str]:
    """The codes of the choices that a page shows without being asked."""
    codes = {str(choice.value) for choice in choices}
    if len(codes) <= FEW:
        return codes
    usual = {*USUAL_REGIONS, *chosen} if len(chosen) <= FEW else {*USUAL_REGIONS}
    return usual & codes
