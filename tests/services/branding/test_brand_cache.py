"""The brand of a partner is kept until the partner changes."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, lazyload

from app.database import Database
from app.enums import ImageType, Role
from app.models import Partner, SiteImage
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import partners
from app.services.branding.brand import cached_brand, of_partner
from tests.fixtures.statements import counted
from tests.fixtures.tenants import Tenant


def loaded(session: Session, partner_id: UUID) -> Partner:
    """The partner as the next request loads it, without its lists."""
    session.flush()
    session.expunge_all()
    query = select(Partner).where(Partner.id == partner_id).options(lazyload("*"))
    return session.scalars(query).one()


def test_a_change_of_a_list_or_a_name_is_shown_at_once(session: Session, tenant: Tenant) -> None:
    partner_id = tenant.partner.id
    before = cached_brand(loaded(session, partner_id))
    wanted = {
        "productName": "Another name",
        "customHeaderLinks": [{"label": "Help", "url": "https://help.example"}],
    }
    admin = tenant.caller(Role.PARTNER_ADMIN)
    partners.update(session, admin, partner_id, read(UpdatePartnerInput, wanted))
    session.flush()
    after = cached_brand(loaded(session, partner_id))
    assert (before.product_name, before.header_links) != (after.product_name, after.header_links)
    assert after == of_partner(loaded(session, partner_id))


def test_an_unchanged_brand_is_not_loaded_again(
    session: Session, database: Database, tenant: Tenant
) -> None:
    partner_id = tenant.partner.id
    cached_brand(loaded(session, partner_id))
    partner = loaded(session, partner_id)
    with counted(database.engine) as statements:
        cached_brand(partner)
    assert statements == []


def test_a_picture_on_another_host_appears_when_it_has_been_fetched(
    session: Session, tenant: Tenant
) -> None:
    partner_id = tenant.partner.id
    partner = session.get_one(Partner, partner_id)
    partner.site_images = [
        SiteImage(type=ImageType.LOGO, image_url="https://pictures.example/logo.png", position=0)
    ]
    partner.version += 1
    session.flush()
    assert cached_brand(loaded(session, partner_id)) is not cached_brand(
        loaded(session, partner_id)
    )
