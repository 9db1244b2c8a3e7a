"""The brand in a partner's files."""

from typing import Any

from sqlalchemy.orm import Session

from app.services.branding import images
from app.services.branding.brand import Brand
from app.validation.colours import to_hex


def letterhead(session: Session, brand: Brand) -> dict[str, Any]:
    """Return the values of ``templates/pdf/letterhead.typ``; the title is the file's."""
    picture = (brand.logo_url or "").rpartition("/")[2]
    return {
        "product": brand.product_name,
        "partner": brand.partner_name,
        "colour": to_hex(brand.colour),
        "logo": list(images.by_hash(session, picture)[0]) if picture else None,
        "footer": " · ".join(filter(None, (brand.partner_name, brand.support_email))),
    }
