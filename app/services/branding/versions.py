"""Compare versions of a brand: with the previous one, and with the current brand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.models import BrandVersion, Partner
from app.policy.caller import Caller
from app.services.branding.drafts import (
    comparable,
    differing_fields,
    published_content,
    published_versions,
)

Against = Literal["before", "now"]


@dataclass(frozen=True, slots=True)
class BrandFieldChange:
    """A brand field (contract name) that differs."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """A published version, the number of the one before it, and the fields that it changed; both
    None for the first one."""

    version: BrandVersion
    before: int | None
    changed: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """``version`` compared with the previous one, or with the current brand. ``other`` is the
    number of the version it is compared with; None for the current brand, and for the first
    version."""

    version: BrandVersion
    other: int | None
    changes: Sequence[BrandFieldChange]


def published(session: Session, partner: Partner, limit: int) -> list[PublishedVersion]:
    """Return the newest published versions, newest first."""
    newest = published_versions(partner).order_by(BrandVersion.number.desc()).limit(limit + 1)
    return _compare_each(session.scalars(newest).all(), limit)


def draft_and_latest(
    session: Session, partner: Partner
) -> tuple[BrandVersion | None, PublishedVersion | None]:
    """Return the draft and the newest published version, as far as there are any: one query."""
    of_partner = select(BrandVersion).where(BrandVersion.partner_id == partner.id)
    newest = session.scalars(of_partner.order_by(BrandVersion.number.desc()).limit(3)).all()
    draft = next((version for version in newest if version.published_at is None), None)
    latest = _compare_each([version for version in newest if version.published_at], 1)
    return draft, next(iter(latest), None)


def _compare_each(versions: Sequence[BrandVersion], limit: int) -> list[PublishedVersion]:
    """Return the first published versions, each compared with the one after it."""
    return [
        PublishedVersion(
            version,
            older.number,
            [change.name for change in differences(older.content, version.content)],
        )
        if older
        else PublishedVersion(version, None, None)
        for version, older in zip(versions[:limit], [*versions[1:], None], strict=False)
    ]


def get(session: Session, partner: Partner, number: int) -> BrandVersion:
    """Return a published version by its number. Raises `NotFound`."""
    version = session.scalar(published_versions(partner).where(BrandVersion.number == number))
    if version is None:
        raise NotFound
    return version


def compare(
    session: Session, caller: Caller, partner: Partner, number: int, against: Against
) -> VersionComparison:
    """Return how a version differs. ``before``: from its predecessor to it; ``now``: from it to the
    current brand. Raises `NotFound`."""
    version = get(session, partner, number)
    if against == "now":
        now = published_content(session, caller, partner)
        return VersionComparison(version, None, differences(version.content, now))
    before = session.scalar(
        published_versions(partner)
        .where(BrandVersion.number < number)
        .order_by(BrandVersion.number.desc())
        .limit(1)
    )
    if before is None:
        return VersionComparison(version, None, ())
    return VersionComparison(version, before.number, differences(before.content, version.content))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[BrandFieldChange]:
    """Return the brand fields in which two contents differ (`differing_fields`)."""
    before, after = comparable(old), comparable(new)
    return [
        BrandFieldChange(name, before[name], after[name]) for name in differing_fields(old, new)
    ]
