"""PDF files in the brand of the page."""

from typing import Any

from flask import Response, g
from sqlalchemy.orm import Session

from app.services.branding.letterhead import letterhead as letterhead_of


def letterhead(session: Session) -> dict[str, Any]:
    """Return what ``templates/pdf/letterhead.typ`` shows of the brand of the page."""
    return letterhead_of(session, g.brand)


def pdf_file(name: str, content: bytes) -> Response:
    """Return the answer that downloads the file under this name, without its ending."""
    named = {"Content-Disposition": f'attachment; filename="{name}.pdf"'}
    return Response(content, mimetype="application/pdf", headers=named)
