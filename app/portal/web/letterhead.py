"""PDF files in the brand of the page."""

from typing import Any

from flask import Response, g
from sqlalchemy.orm import Session

from app.services.branding import images
from app.services.branding.brand import Brand


def letterhead(session: Session) -> dict[str, Any]:
    """Return what ``templates/pdf/letterhead.typ`` shows of the brand; the title is the file's."""
    brand: Brand = g.brand
    picture = (brand.logo_url or "").rpartition("/")[2]
    return {
        "product": brand.product_name,
        "partner": brand.partner_name,
        "colour": brand.colour,
        "logo": list(images.by_hash(session, picture)[0]) if picture else None,
        "footer": " · ".join(filter(None, (brand.partner_name, brand.support_email))),
    }


def pdf_file(name: str, content: bytes) -> Response:
    """Return the answer that downloads the file under this name, without its ending."""
    named = {"Content-Disposition": f'attachment; filename="{name}.pdf"'}
    return Response(content, mimetype="application/pdf", headers=named)
