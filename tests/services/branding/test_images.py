"""A picture is measured by its header, decoded one at a time, and kept upright in its box."""

import io
import struct
import threading
import zlib

import pytest
from PIL import Image

from app.enums import ImageType
from app.errors import Problem, ValidationFailed
from app.services.branding import images


def header_only(width: int, height: int) -> bytes:
    """A PNG that says its size and holds no pixels: to decode it fails in another way."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def drawn(width: int, height: int, kind: str = "PNG", **more: object) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "#224466").save(out, kind, **more)
    return out.getvalue()


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (
            (10_001, 800),
            (
                "The picture is 10,001 × 800 pixels. Save it with at most 10,000 pixels on its "
                "longer side."
            ),
        ),
        ((5000, 2501), "The picture has over 12.5 million pixels. Save it smaller."),
        ((8000, 5000), "The picture has over 12.5 million pixels. Save it smaller."),
        ((65535, 65535), "The picture has over 12.5 million pixels. Save it smaller."),
    ],
)
def test_too_many_pixels_are_refused_by_the_header(size: tuple[int, int], message: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        images.encode(header_only(*size), ImageType.HERO, "hero")
    assert refusal.value.problems == (Problem("hero", "too_large", message),)


def test_an_icon_that_holds_too_many_pixels_is_refused() -> None:
    inside = header_only(8000, 8000)
    directory = struct.pack("<HHH", 0, 1, 1)
    entry = struct.pack("<BBBBHHII", 0, 0, 0, 0, 1, 32, len(inside), 22)
    with pytest.raises(ValidationFailed) as refusal:
        images.encode(directory + entry + inside, ImageType.FAVICON, "favicon")
    assert [problem.code for problem in refusal.value.problems] == ["too_large"]


@pytest.mark.parametrize("progressive", [False, True])
def test_a_photo_of_20_million_pixels_is_made_smaller(progressive: bool) -> None:
    photo = drawn(5472, 3648, "JPEG", progressive=progressive)
    found = images.encode(photo, ImageType.HERO, "hero")
    assert (found.content_type, found.width, found.height) == ("image/webp", 1800, 1200)


@pytest.mark.parametrize(
    ("size", "progressive", "most"), [((6000, 4001), True, "24"), ((9000, 7200), False, "64")]
)
def test_a_photo_that_takes_too_much_memory_is_refused_by_its_header(
    size: tuple[int, int], progressive: bool, most: str
) -> None:
    small = drawn(16, 16, "JPEG", progressive=progressive)
    frame = small.index(b"\xff\xc2" if progressive else b"\xff\xc0")
    photo = small[: frame + 5] + struct.pack(">HH", size[1], size[0]) + small[frame + 9 :]
    with pytest.raises(ValidationFailed) as refusal:
        images.encode(photo, ImageType.HERO, "hero")
    message = f"The picture has over {most} million pixels. Save it smaller."
    assert refusal.value.problems == (Problem("hero", "too_large", message),)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_turned_upright_and_scaled_to_its_box(kind: str) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    found = images.encode(drawn(3000, 1500, kind, exif=turned), ImageType.HERO, "hero")
    assert (found.content_type, found.width, found.height) == ("image/webp", 900, 1800)


def test_a_transparent_logo_stays_transparent() -> None:
    out = io.BytesIO()
    Image.new("P", (300, 60)).save(out, "PNG", transparency=0)
    found = images.encode(out.getvalue(), ImageType.LOGO, "logo")
    with Image.open(io.BytesIO(found.data)) as kept:
        assert (kept.mode, kept.size, kept.getpixel((0, 0))) == ("RGBA", (300, 60), (0, 0, 0, 0))


def test_pictures_are_decoded_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work, most = [0], [0]
    original = images._encode

    def watched(*given: object) -> images.EncodedPicture:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        try:
            return original(*given)  # type: ignore[arg-type]  # passed on as they are
        finally:
            at_work[0] -= 1

    monkeypatch.setattr(images, "_encode", watched)
    data = drawn(1200, 300)
    threads = [
        threading.Thread(target=images.encode, args=(data, ImageType.LOGO, "logo"))
        for _turn in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
