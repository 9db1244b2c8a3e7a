"""A PDF has the colour of the brand, however the brand writes it."""

import pytest
from sqlalchemy.orm import Session

from app.models import BrandColor
from tests.fixtures.pdf_text import colours_of
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

COLOURS = {
    "teal": "#008080",
    "RebeccaPurple": "#663399",
    "rgb(28, 122, 77)": "#1c7a4d",
    "hsl(210 100% 40%)": "#0066cc",
    "#e14": "#ee1144",
}


@pytest.fixture(params=COLOURS)
def brand_color(session: Session, tenant: Tenant, request: pytest.FixtureRequest) -> str:
    tenant.partner.brand_colors = [BrandColor(name="primary", value=request.param)]
    tenant.partner.version += 1
    session.commit()
    return str(request.param)


@pytest.mark.parametrize("path", ["/statements/{}.pdf", "/report/month.pdf"])
def test_a_file_has_the_colour_of_the_brand(
    tenant: Tenant, admin: Browser, brand_color: str, path: str
) -> None:
    file = admin.get(path.format(tenant.organization.id)).data
    assert file.startswith(b"%PDF-")
    assert colours_of(file) == {COLOURS[brand_color]}
