"""Pictures of a brand: checked, shrunk, re-encoded (which removes metadata), stored."""

import hashlib
import io
import warnings
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from babel.numbers import format_decimal
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.enums import ImageType
from app.errors import NotFound, ValidationFailed
from app.languages import gettext, lazy_gettext, locale
from app.models import BrandImage, OutsidePicture
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, storage
from app.services.branding import svg

if TYPE_CHECKING:
    from PIL import Image

_STORAGE = StorageDefaults()
MAX_BYTES = 20 * 1024 * 1024
TOO_LARGE = lazy_gettext("The picture is over 20 MB. Save it smaller and upload it again.")
MAX_PIXELS = 12_500_000
MAX_PHOTO_PIXELS = 64_000_000
"""Maximum pixels of a JPEG, which is decoded at a fraction of its size."""
MAX_PROGRESSIVE_PIXELS = 24_000_000
"""Maximum pixels of a progressive JPEG, which is completely in memory before it is decoded."""
MAX_SIDE = 10_000
Refusal = Callable[[str, str], ValidationFailed]
READABLE = ("PNG", "WEBP", "GIF", "ICO")
_JPEG = b"\xff\xd8\xff"


def _limit_pixels() -> None:
    from PIL import Image

    # Pillow compares it with the header, also of pictures inside an icon, and warns.
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)


_decoding = ThreadPoolExecutor(
    max_workers=1, thread_name_prefix="picture", initializer=_limit_pixels
)
"""Decodes one picture at a time, always in the same thread: other threads would each keep
memory."""

NEARLY_SQUARE = 1.1
"""Few icons are square to the pixel."""


@dataclass(frozen=True, slots=True)
class PictureRequirements:
    """The requirements of a kind of picture: smallest side, largest box it is reduced to, how many
    times as wide as high it may be, and how many times as high as wide."""

    smallest: int
    box: tuple[int, int]
    widest: float
    tallest: float

    @property
    def is_square(self) -> bool:
        return self.widest == self.tallest == NEARLY_SQUARE

    @property
    def description(self) -> str:
        """The requirements in words, to show before a picture is chosen."""
        smallest = _format_number(self.smallest)
        if self.is_square:
            return gettext("Square, %(smallest)s px or more.", smallest=smallest)
        return gettext(
            "%(smallest)s px or more, up to %(widest)s times as wide as high.",
            smallest=smallest,
            widest=_format_number(self.widest),
        )


SHAPES: dict[ImageType, PictureRequirements] = {
    ImageType.LOGO: PictureRequirements(28, (1120, 280), widest=12, tallest=1.5),
    ImageType.FAVICON: PictureRequirements(32, (256, 256), NEARLY_SQUARE, NEARLY_SQUARE),
    ImageType.HERO: PictureRequirements(400, (1800, 1800), widest=4, tallest=3),
}


@dataclass(frozen=True, slots=True)
class EncodedPicture:
    data: bytes
    content_type: str
    width: int
    height: int


def store(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    kind: ImageType,
    encoded: EncodedPicture,
    storage_defaults: StorageDefaults = _STORAGE,
    *,
    name: str | None = None,
) -> BrandImage:
    """Store a picture and return it; the same picture again is the same row. ``name`` is its name
    in the history, if that isn't its kind.

    Raises `TooLarge` (``storage_limit_reached``) where the partner has no storage left.
    """
    caller.require(Permission.BRANDING_WRITE)
    sha256 = hashlib.sha256(encoded.data).hexdigest()
    existing = session.scalar(
        select(BrandImage).where(BrandImage.partner_id == partner_id, BrandImage.sha256 == sha256)
    )
    if existing:
        return existing
    storage.reserve_room(session, partner_id, None, len(encoded.data), storage_defaults)
    image = BrandImage(
        partner_id=partner_id,
        type=kind,
        sha256=sha256,
        content_type=encoded.content_type,
        width=encoded.width,
        height=encoded.height,
        size=len(encoded.data),
        data=encoded.data,
    )
    session.add(image)
    session.flush()
    size = {"width": image.width, "height": image.height, "size": image.size}
    audit.record_change(session, caller, "brand_image.uploaded", image, target=name, after=size)
    return image


def uploaded_pictures(
    session: Session, caller: Caller, hashes: Collection[str]
) -> dict[str, BrandImage]:
    """Return the partner's uploaded pictures by the hashes of their content, without their data."""
    if not hashes or caller.partner_id is None:
        return {}
    is_theirs = (BrandImage.partner_id == caller.partner_id) & BrandImage.sha256.in_(hashes)
    return {image.sha256: image for image in session.scalars(select(BrandImage).where(is_theirs))}


def by_hash(session: Session, sha256: str) -> tuple[bytes, str]:
    """Return the data and the content type of an uploaded or fetched picture, by the hash of its
    content, which only its viewers know."""
    for kind in (BrandImage, OutsidePicture):
        query = select(kind.data, kind.content_type).where(kind.sha256 == sha256).limit(1)
        if (row := session.execute(query).first()) is not None:
            data, content_type = row
            return data or b"", content_type or ""
    raise NotFound()


def encode(data: bytes, kind: ImageType, field: str) -> EncodedPicture:
    """Return the picture as PNG (logo, favicon) or WebP (hero), reduced to its box, without
    metadata.

    It takes up to a second, so no transaction should be open. Raises `ValidationFailed` on
    ``field`` for a file that isn't a picture, or one that is too large or of the wrong shape.
    """
    refuse = partial(ValidationFailed.on, field)

    if not data:
        raise refuse("required", gettext("Choose a picture."))
    if len(data) > MAX_BYTES:
        raise refuse("too_large", str(TOO_LARGE))
    # The context holds the language of the messages.
    return _decoding.submit(copy_context().run, _encode, data, kind, refuse).result()


def _encode(data: bytes, kind: ImageType, refuse: Refusal) -> EncodedPicture:
    from PIL import Image, ImageOps, UnidentifiedImageError

    shape = SHAPES[kind]
    try:
        picture = _open_picture(svg.draw(data, shape.box) if svg.is_svg(data) else data, refuse)
        _check_shape(_upright_size(picture), kind, refuse)
        picture.draft("RGB", (max(shape.box), max(shape.box)))  # a JPEG is decoded smaller
        mode = "RGBA" if picture.has_transparency_data else "RGB"
        picture = picture if picture.mode == mode else picture.convert(mode)
        picture.thumbnail(shape.box, Image.Resampling.LANCZOS)
    except svg.NotDrawn as error:
        raise refuse("not_a_picture", str(error)) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many_pixels(MAX_PIXELS, refuse) from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        message = gettext(
            "This file is not a picture that can be read. Use SVG, PNG, JPEG, WebP or GIF."
        )
        raise refuse("not_a_picture", message) from None
    ImageOps.exif_transpose(picture, in_place=True)
    out = io.BytesIO()
    if kind is ImageType.HERO:
        picture.convert("RGB").save(out, "WEBP", quality=82, method=4)
        return EncodedPicture(out.getvalue(), "image/webp", picture.width, picture.height)
    picture.convert("RGBA").save(out, "PNG", optimize=True)
    return EncodedPicture(out.getvalue(), "image/png", picture.width, picture.height)


def _open_picture(data: bytes, refuse: Refusal) -> "Image.Image":
    """Read the header, and refuse what would take too much memory to decode."""
    from PIL import Image
    from PIL.JpegImagePlugin import JpegImageFile

    if not data.startswith(_JPEG):
        picture: Image.Image = Image.open(io.BytesIO(data), formats=READABLE)
        max_pixels = MAX_PIXELS
    else:
        picture = JpegImageFile(io.BytesIO(data))
        progressive = "progressive" in picture.info
        max_pixels = MAX_PROGRESSIVE_PIXELS if progressive else MAX_PHOTO_PIXELS
    width, height = picture.size
    if max(width, height) > MAX_SIDE:
        message = gettext(
            "The picture is %(width)s × %(height)s pixels. Save it with at most %(most)s pixels on "
            "its longer side.",
            width=_format_number(width),
            height=_format_number(height),
            most=_format_number(MAX_SIDE),
        )
        raise refuse("too_large", message)
    if width * height > max_pixels:
        raise _too_many_pixels(max_pixels, refuse)
    return picture


def _too_many_pixels(max_pixels: int, refuse: Refusal) -> ValidationFailed:
    message = gettext(
        "The picture has over %(millions)s million pixels. Save it smaller.",
        millions=_format_number(max_pixels / 1_000_000),
    )
    return refuse("too_large", message)


def _format_number(value: float) -> str:
    return format_decimal(value, locale=locale())


def _upright_size(picture: "Image.Image") -> tuple[int, int]:
    from PIL import ExifTags

    turned = picture.getexif().get(ExifTags.Base.Orientation, 1) in (5, 6, 7, 8)
    return picture.size[::-1] if turned else picture.size


def _check_shape(size: tuple[int, int], kind: ImageType, refuse: Refusal) -> None:
    width, height = size
    shape = SHAPES[kind]
    if min(width, height) < shape.smallest:
        message = gettext(
            "The picture is %(width)s × %(height)s pixels; its shorter side needs %(smallest)s or "
            "more.",
            width=width,
            height=height,
            smallest=shape.smallest,
        )
        raise refuse("too_small", message)
    if width > height * shape.widest or height > width * shape.tallest:
        raise refuse("wrong_shape", _shape_message(shape, width, height))


def _shape_message(shape: PictureRequirements, width: int, height: int) -> str:
    if shape.is_square:
        return gettext(
            "The picture is %(width)s × %(height)s pixels. It must be square.",
            width=width,
            height=height,
        )
    return gettext(
        "The picture is %(width)s × %(height)s pixels. It must be at most %(widest)s times as wide "
        "as high, and at most %(tallest)s times as high as wide.",
        width=width,
        height=height,
        widest=_format_number(shape.widest),
        tallest=_format_number(shape.tallest),
    )
