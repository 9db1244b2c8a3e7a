"""The brand's life cycle: a draft is edited, published as a version, or discarded; versions stay.

Content uses the contract's names, and is validated like its JSON. The texts of a brand and a logo
for dark backgrounds aren't in the JSON.
"""

import json
from collections.abc import Mapping
from operator import itemgetter
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.enums import ImageType
from app.errors import Conflict, NotFound, check_version, content_version
from app.languages import gettext
from app.models import BrandVersion, Partner, utcnow
from app.models.base import NAME_LENGTH
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.base import wire_name
from app.schemas.parsing import read
from app.schemas.partners import BrandedPartner, UpdateBrandInput
from app.services import audit, partners

STUDIO_NAMES = tuple(sorted(wire_name(name) for name in partners.EDITOR_FIELDS))
"""The fields of a draft: those that a partnerEditor can write
(docs/decisions/partners.md#fields-by-role)."""


_WITHOUT = {
    "tagline": None,
    "mailGreeting": None,
    "textsByLanguage": None,
    "darkLogoUrl": None,
}
"""Fields that older versions don't have."""


def published_content(session: Session, caller: Caller, partner: Partner) -> dict[str, Any]:
    """Return the current brand fields as JSON values, without ids of list items."""
    branded = partners.to_resource(partner, caller, BrandedPartner, with_lists=False)
    resource = branded.model_dump(mode="json", by_alias=True)
    resource |= partners.brand_lists(session, partner)
    return {name: resource[name] for name in STUDIO_NAMES}


def content_of(session: Session, caller: Caller, partner: Partner) -> dict[str, Any]:
    """Return what the studio shows: the draft, otherwise the published content."""
    draft = draft_of(session, partner)
    return draft.content if draft else published_content(session, caller, partner)


def fingerprint(content: Mapping[str, Any]) -> int:
    """Return a number that identifies the content on which a form is based."""
    return content_version(json.dumps(content, sort_keys=True).encode())


def draft_of(session: Session, partner: Partner) -> BrandVersion | None:
    return session.scalar(
        select(BrandVersion).where(
            BrandVersion.partner_id == partner.id, BrandVersion.published_at.is_(None)
        )
    )


def published_versions(partner: Partner) -> Select[BrandVersion]:
    return select(BrandVersion).where(
        BrandVersion.partner_id == partner.id, BrandVersion.published_at.is_not(None)
    )


def save(
    session: Session,
    caller: Caller,
    partner: Partner,
    changes: Mapping[str, Any],
    *,
    expected_version: int | None = None,
) -> BrandVersion:
    """Write changes (contract names) into the draft, creating it if there is none.

    ``expected_version`` is the `fingerprint` of the content that filled the form. Raises `Conflict`
    (``changed_meanwhile``), and `ValidationFailed` exactly as ``PUT /api/partners/{partnerId}``
    does.
    """
    caller.require(Permission.BRANDING_WRITE)
    read(UpdateBrandInput, dict(changes))
    partner = partners.get(session, caller, partner.id, for_change=True)
    current = content_of(session, caller, partner)
    if {**current, **changes} != current:
        check_version(expected_version, fingerprint(current), "draft")
    draft = draft_of(session, partner)
    if draft is None:
        draft = BrandVersion(
            partner_id=partner.id,
            number=_next_number(session, partner.id),
            content=current,
            author=caller.label[:NAME_LENGTH],
        )
        session.add(draft)
    draft.content = {**draft.content, **changes}
    draft.author = caller.label[:NAME_LENGTH]
    draft.updated_at = utcnow()
    session.flush()
    return draft


def set_image(
    session: Session,
    caller: Caller,
    partner: Partner,
    kind: ImageType,
    url: str | None,
    *,
    expected_version: int | None = None,
) -> BrandVersion:
    """Put a picture's URL into the draft, replacing the one of its kind; None removes it. See
    `set_dark_logo` for the logo on dark backgrounds."""
    draft = draft_of(session, partner)
    content = draft.content if draft else published_content(session, caller, partner)
    other_pictures = [image for image in content["siteImages"] or [] if image["type"] != kind.value]
    pictures = [*other_pictures, {"type": kind.value, "imageUrl": url}] if url else other_pictures
    changes: dict[str, Any] = {"siteImages": pictures or None}
    if kind is ImageType.LOGO:
        changes["logoImgUrl"] = url
    return save(session, caller, partner, changes, expected_version=expected_version)


def set_dark_logo(
    session: Session,
    caller: Caller,
    partner: Partner,
    url: str | None,
    *,
    expected_version: int | None = None,
) -> BrandVersion:
    changes = {"darkLogoUrl": url}
    return save(session, caller, partner, changes, expected_version=expected_version)


def changed_fields(
    session: Session, caller: Caller, partner: Partner, draft: BrandVersion
) -> list[str]:
    """Return the contract names of the fields in which the draft differs from the published
    content."""
    return differing_fields(draft.content, published_content(session, caller, partner))


def differing_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the contract names of the fields in which two contents differ, as `comparable`."""
    before, after = comparable(old), comparable(new)
    return [name for name in STUDIO_NAMES if before[name] != after[name]]


def comparable(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as comparisons show them: an absent one is null, the logo is one field even
    if it is among the pictures, and pictures are ordered by type."""
    pictures = content.get("siteImages") or []
    logos = [item["imageUrl"] for item in pictures if item["type"] == ImageType.LOGO.value]
    other_pictures = [item for item in pictures if item["type"] != ImageType.LOGO.value]
    return {
        **{name: content.get(name) for name in STUDIO_NAMES},
        "logoImgUrl": content.get("logoImgUrl") or next(iter(logos), None),
        "siteImages": sorted(other_pictures, key=itemgetter("type")),
    }


def publish(
    session: Session, caller: Caller, partner: Partner, *, expected_version: int | None = None
) -> BrandVersion:
    """Publish the draft; before version 1, version 0 keeps the initial brand.

    Raises `NotFound` if there is none, and `Conflict` (``changed_meanwhile``) if it is not the
    version that the user reviewed.
    """
    caller.require(Permission.BRANDING_WRITE)
    partner = partners.get(session, caller, partner.id, for_change=True)
    check_version(expected_version, fingerprint(content_of(session, caller, partner)), "draft")
    draft = _required_draft(session, partner)
    published = published_content(session, caller, partner)
    if draft.number == 1:
        _store_initial(session, partner, published)
    draft_values = {name: draft.content.get(name) for name in STUDIO_NAMES}
    changes = {name: value for name, value in draft_values.items() if value != published[name]}
    partners.update(session, caller, partner.id, read(UpdateBrandInput, changes))
    draft.published_at = utcnow()
    draft.author = caller.label[:NAME_LENGTH]
    session.flush()
    audit.record_change(session, caller, "branding.published", draft)
    return draft


def discard(session: Session, caller: Caller, partner: Partner) -> None:
    """Delete the draft; without one nothing happens."""
    caller.require(Permission.BRANDING_WRITE)
    draft = draft_of(session, partner)
    if draft is not None:
        session.delete(draft)
        session.flush()


def roll_back(
    session: Session,
    caller: Caller,
    partner: Partner,
    number: int,
    *,
    expected_version: int | None = None,
) -> BrandVersion | None:
    """Publish the content of an earlier version as the next one; None if customers see it already.

    ``expected_version`` is the `fingerprint` of the content it was compared with. Raises `Conflict`
    (``draft_exists`` if changes of a draft would be lost, ``changed_meanwhile``), `NotFound` for an
    unknown number.
    """
    caller.require(Permission.BRANDING_WRITE)
    partner = partners.get(session, caller, partner.id, for_change=True)
    version = session.scalar(
        select(BrandVersion).where(
            BrandVersion.partner_id == partner.id,
            BrandVersion.number == number,
            BrandVersion.published_at.is_not(None),
        )
    )
    if version is None:
        raise NotFound()
    draft = draft_of(session, partner)
    if draft is not None and changed_fields(session, caller, partner, draft):
        message = gettext("There is a draft with changes. Publish or discard it first.")
        raise Conflict(message, "draft_exists")
    check_version(expected_version, fingerprint(content_of(session, caller, partner)), "draft")
    content = {**_WITHOUT, **version.content}
    if not differing_fields(content, published_content(session, caller, partner)):
        return None
    save(session, caller, partner, content)
    return publish(session, caller, partner)


def _store_initial(session: Session, partner: Partner, content: dict[str, Any]) -> None:
    """Keep what customers saw before the first version, so that it can be rolled back too."""
    initial = BrandVersion(
        partner_id=partner.id, number=0, content=content, author="", published_at=utcnow()
    )
    session.add(initial)


def _required_draft(session: Session, partner: Partner) -> BrandVersion:
    draft = draft_of(session, partner)
    if draft is None:
        raise NotFound(gettext("There is no draft to publish."), "no_draft")
    return draft


def _next_number(session: Session, partner_id: UUID) -> int:
    highest = session.scalar(
        select(func.max(BrandVersion.number)).where(BrandVersion.partner_id == partner_id)
    )
    return (highest or 0) + 1
