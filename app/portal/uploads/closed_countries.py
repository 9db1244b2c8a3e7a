"""The warning about contacts of an upload whose country isn't open for calls."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.languages import ngettext
from app.models import ContactImport, Organization
from app.portal.web.closed_countries import closed_country_label, opening_page
from app.services import destinations
from app.services.imports import reports
from app.services.outreach import ClosedCountry


@dataclass(frozen=True, slots=True)
class ClosedCountriesWarning:
    """``pages`` are URLs and names of the pages where the user may open the countries."""

    title: str
    text: str
    pages: list[tuple[str, str]]


def closed_countries_warning(
    session: Session, upload: ContactImport
) -> ClosedCountriesWarning | None:
    """Return the warning about the countries that are closed now; None if there are none."""
    regions = reports.closed_regions(session, upload)
    if not regions:
        return None
    organization = session.get_one(Organization, upload.organization_id)
    open_regions = destinations.destinations_of(session, organization).regions
    closed = {
        ClosedCountry(region, layer): count
        for region, count in regions.most_common()
        if (layer := open_regions.closed_by(region))
    }
    if not closed:
        return None
    pages = (opening_page(country.layer, organization.id) for country in closed)
    return ClosedCountriesWarning(
        ngettext(
            "%(num)s contact won’t be called",
            "%(num)s contacts won’t be called",
            sum(closed.values()),
        ),
        " ".join(f"{closed_country_label(country)}." for country in closed),
        [*dict.fromkeys(filter(None, pages))],
    )
