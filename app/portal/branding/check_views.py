"""The brand's readability, pair by pair, and its missing parts."""

from itertools import groupby
from typing import Any

from flask import render_template, url_for

from app.extensions import caller, transaction
from app.policy import Permission
from app.portal.branding import blueprint
from app.portal.branding.labels import VERDICTS_IN_TEXT, contrast_message, surfaces_message
from app.portal.branding.studio import BrandingStudio
from app.portal.web.blueprint import portal
from app.services.branding.brand import Brand
from app.services.branding.colour_pairs import colour_pairs
from app.services.branding.surfaces import StudioField, surfaces

IN_SETTINGS = frozenset({StudioField.SUPPORT, StudioField.DOMAIN})


@portal.app_template_global()
def field_url(field: StudioField) -> str | None:
    """Return the URL of the page that fixes it; None if the caller may not open it."""
    if field not in IN_SETTINGS:
        return url_for("portal.branding.show_branding", _anchor=field.value)
    if not caller().may(Permission.PARTNER_WRITE):
        return None
    return url_for("portal.settings.edit_settings", _anchor=field.value)


@blueprint.get("/branding/contrast")
def show_contrast() -> str:
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        return render_template(
            "portal/branding/contrast.html",
            **_pair_context(studio.brand, of_draft=bool(studio.changes)),
            colour=studio.brand.colour,
            verdicts=VERDICTS_IN_TEXT,
            **studio.head(),
        )


def _pair_context(brand: Brand, *, of_draft: bool) -> dict[str, Any]:
    """Return the pairs of colours by group, and their sentence with the lowest contrast of a text
    or button."""
    pairs = colour_pairs(brand.colour, brand.chat_colours)
    lowest = min(pair.lowest for pair in pairs if not pair.plain)
    return {
        "groups": [(name, list(group)) for name, group in groupby(pairs, lambda each: each.group)],
        "sentence": contrast_message(len(pairs), lowest, of_draft=of_draft),
    }


@blueprint.get("/branding/surfaces")
def show_surfaces() -> str:
    with transaction(read_only=True) as session:
        studio = BrandingStudio(session)
        places = surfaces(studio.partner, studio.brand)
        return render_template(
            "portal/branding/surfaces.html",
            places=places,
            sentence=surfaces_message(places, of_draft=bool(studio.changes)),
            **studio.head(),
        )
