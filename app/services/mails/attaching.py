"""The attachment of a mail: the report of a month as a PDF.

It is typeset after the transaction that reads its data, because that takes some tenths of a second.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app import languages
from app.gateways.mailers import MAX_OCTETS, MailAttachment
from app.models import Mail, Partner
from app.services import pdf
from app.services.branding.brand import of_partner
from app.services.branding.letterhead import letterhead

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MailPdf:
    """The content and language of the PDF, and the name of the file."""

    name: str
    language: str
    data: Mapping[str, Any]

    def attached(self) -> tuple[MailAttachment, ...]:
        """Return the PDF; empty if it can't be made or is too large, so that the mail is sent
        without it."""
        try:
            with languages.using_language(self.language):
                content = pdf.render("report", self.data)
        except Exception:
            log.exception("the report could not be attached to its mail")
            return ()
        if len(content) > MAX_OCTETS:
            log.warning("a report of %s bytes is too large to attach", len(content))
            return ()
        return (MailAttachment(self.name, "application/pdf", content),)


def pdf_of(session: Session, mail_id: UUID) -> MailPdf | None:
    """Return the attachment of the mail; None if it has none, or if PDF isn't installed."""
    mail = session.get(Mail, mail_id)
    if mail is None or mail.partner_id is None or "paper" not in mail.details:
        return None
    if not pdf.is_installed():
        return None
    details = mail.details
    brand = of_partner(session.get_one(Partner, mail.partner_id))
    data = {**letterhead(session, brand), **details["paper"]}
    return MailPdf(f"report-{details['start'][:7]}.pdf", details["language"], data)
