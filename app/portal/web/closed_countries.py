"""Countries that aren't open for calls in words, and the pages where they are opened."""

from typing import Any
from uuid import UUID

from flask import url_for

from app.extensions import caller
from app.languages import capitalized, gettext, lazy_gettext
from app.phone import DestinationLayer, country_name
from app.portal.web.navigation import may_open
from app.services.outreach import ClosedCountry

_OPENING_PAGES = {
    DestinationLayer.OPERATOR: (
        "portal.destinations.edit_installation_destinations",
        lazy_gettext("Call destinations"),
    ),
    DestinationLayer.PARTNER: (
        "portal.destinations.edit_partner_destinations",
        lazy_gettext("Call destinations"),
    ),
    DestinationLayer.ORGANIZATION: (
        "portal.organizations.edit_settings",
        lazy_gettext("Allowed regions"),
    ),
}
"""Endpoint and link of the page where each layer opens countries."""


def closed_country_label(country: ClosedCountry) -> str:
    name = country_name(country.region)
    return gettext("%(country)s isn’t open for calls", country=capitalized(name))


def opening_page(layer: DestinationLayer, organization_id: UUID) -> tuple[str, str] | None:
    """Return URL and name of the page where a layer opens countries, if the user may open it."""
    endpoint, label = _OPENING_PAGES[layer]
    if not may_open(caller(), endpoint):
        return None
    ids: dict[str, Any] = {}
    if layer is DestinationLayer.ORGANIZATION:
        ids["organization_id"] = organization_id
    return url_for(endpoint, **ids), str(label)
