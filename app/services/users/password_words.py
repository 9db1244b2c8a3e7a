"""Names and addresses around a user that a new password must not consist of."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.models import Organization, Partner, User


def known_words(session: Session, user: User) -> Sequence[str]:
    """Return the user's name and address, and the names and domains of partner, product and
    organization."""
    partner = session.get(Partner, user.partner_id) if user.partner_id else None
    organization = session.get(Organization, user.organization_id) if user.organization_id else None
    texts = [user.email, user.name]
    if partner is not None:
        texts += [partner.name, partner.product_name, partner.slug]
        texts += [partner.domain, partner.email_domain]
    if organization is not None:
        texts.append(organization.name)
    return [text for text in texts if text]
