"""Regions to choose from."""

from collections.abc import Collection, Iterable

from wtforms import SelectChoice

from app.phone import country_name, regions

USUAL_REGIONS = ("US", "CA", "GB", "IE", "AU", "NZ", "DE", "AT", "CH", "FR", "ES", "IT", "NL")
"""Regions shown first; the others on request."""
FEW = 24
"""Maximum regions that are all shown at once."""


def named_regions() -> list[SelectChoice]:
    """Return every region with its name in lists: without the article, capitalised."""
    return [SelectChoice(code, _standalone_name(name)) for code, name in regions()]


def region_title(code: str) -> str:
    """Return the name of a region for a list."""
    return _standalone_name(country_name(code))


def _standalone_name(name: str) -> str:
    name = name.removeprefix("the ")
    return name[:1].upper() + name[1:]


def offered_first(choices: Iterable[SelectChoice], selected: Collection[str]) -> set[str]:
    """Return the codes of the choices that a page shows first."""
    codes = {str(choice.value) for choice in choices}
    if len(codes) <= FEW:
        return codes
    default = {*USUAL_REGIONS, *selected} if len(selected) <= FEW else {*USUAL_REGIONS}
    return default & codes
