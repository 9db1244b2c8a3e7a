"""Versions of a partner's brand, and the pictures uploaded or fetched for it."""

from typing import Any

from sqlalchemy import LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import ImageType
from app.models.base import (
    Base,
    Created,
    Hash,
    Id,
    Json,
    Name,
    PartnerId,
    Refreshed,
    Short,
    Time,
    Url,
    enum_column,
    partial_index,
)


class BrandVersion(Base):
    """A snapshot of the brand fields. The one without ``published_at`` is the partner's draft."""

    __tablename__ = "brand_versions"
    __table_args__ = (
        UniqueConstraint("partner_id", "number"),
        partial_index(
            "uq_brand_versions_draft", "partner_id", unique=True, where="published_at IS NULL"
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    number: Mapped[int]
    content: Mapped[dict[str, Any]] = mapped_column(Json)
    author: Mapped[Name]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]
    published_at: Mapped[Time | None]


class BrandImage(Base):
    """An uploaded picture, re-encoded; served under its content hash."""

    __tablename__ = "brand_images"
    __table_args__ = (UniqueConstraint("partner_id", "sha256"),)

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    type: Mapped[ImageType] = mapped_column(enum_column(ImageType))
    sha256: Mapped[Hash]
    content_type: Mapped[Short]
    width: Mapped[int]
    height: Mapped[int]
    size: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    created_at: Mapped[Created]


class OutsidePicture(Refreshed, Base):
    """A picture of the brand on another host, with the copy that pages show: re-encoded, served
    under its content hash. It has no copy until the first one is fetched; ``problem`` says why the
    last attempt failed, and the previous copy stays."""

    __tablename__ = "outside_pictures"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    kind: Mapped[ImageType] = mapped_column(enum_column(ImageType), primary_key=True)
    url: Mapped[Url]
    problem: Mapped[str | None] = mapped_column(Text)
    etag: Mapped[Name | None]
    sha256: Mapped[Hash | None] = mapped_column(index=True)
    content_type: Mapped[Short | None]
    width: Mapped[int | None]
    height: Mapped[int | None]
    size: Mapped[int | None]
    data: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
