"""The worker keeps copies of brand pictures on other hosts, and keeps them current."""

import io
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from PIL import Image
from sqlalchemy import update

from app.database import Database
from app.enums import ImageType
from app.jobs.fetch_picture import update_copy
from app.models import OutsidePicture, Partner, utcnow
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import partners
from app.services.branding import outside_pictures
from app.services.branding.brand import of_partner
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.picture_server import PictureServer
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR, make_partner
from tests.fixtures.waiting import wait_for
from tests.fixtures.worker import Worker
from tests.matrix import rotating

backend = runs_on(rotating("database of outside pictures", BACKENDS))


def picture(colour: str = "#1c7a4d", size: tuple[int, int] = (300, 60)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def server() -> Iterator[PictureServer]:
    with PictureServer().open() as opened:
        yield opened


class Brand:
    """A partner and the worker's half of its pictures."""

    def __init__(self, database: Database, folder: Path):
        self.database = database
        self.settings = settings_for(url_of(database), folder, webhook_allow_private=True)
        with database.transaction() as session:
            self.id: UUID = make_partner(session).id

    def change(self, **changes: Any) -> None:
        with self.database.transaction() as session:
            partners.update(session, OPERATOR, self.id, read(UpdatePartnerInput, changes))

    def fetch(self, kind: ImageType = ImageType.LOGO) -> OutsidePicture:
        update_copy(self.database, self.settings, self.id, kind)
        return self.pictures()[kind]

    def pictures(self) -> dict[ImageType, OutsidePicture]:
        with self.database.transaction(read_only=True) as session:
            return {one.kind: one for one in session.get_one(Partner, self.id).outside_pictures}

    def logo(self) -> str | None:
        with self.database.transaction(read_only=True) as session:
            return of_partner(session.get_one(Partner, self.id)).logo_url


@pytest.fixture
def brand(fresh_database: Database, tmp_path: Path) -> Brand:
    return Brand(fresh_database, tmp_path)


def test_a_picture_is_fetched_and_encoded(brand: Brand, server: PictureServer) -> None:
    brand.change(logoImgUrl=server.serve("/logo.png", picture(), etag='"1"'))
    assert brand.logo() is None
    found = brand.fetch()
    assert (found.content_type, found.width, found.height, found.etag, found.problem) == (
        ("image/png", 300, 60, '"1"', None)
    )
    assert brand.logo() == f"/brand/images/{found.sha256}"


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_worker_fetches_a_picture_without_being_asked(
    brand: Brand, server: PictureServer, make_worker: Callable[..., Worker]
) -> None:
    make_worker(PORTAL_WEBHOOK_ALLOW_PRIVATE="true").start()
    brand.change(logoImgUrl=server.serve("/logo.png", picture()))
    wait_for(lambda: brand.logo() is not None)


def test_a_failed_refresh_keeps_the_copy_and_says_why(brand: Brand, server: PictureServer) -> None:
    brand.change(logoImgUrl=server.serve("/logo.png", picture(), etag='"1"'))
    first = brand.fetch()
    server.pages.clear()
    failed = brand.fetch()
    assert failed.problem == "127.0.0.1 answered with status 404."
    assert failed.sha256 == first.sha256
    server.serve("/logo.png", picture(), etag='"1"')
    assert (brand.fetch().problem, brand.logo()) == (None, f"/brand/images/{first.sha256}")


def test_a_changed_picture_replaces_its_copy(brand: Brand, server: PictureServer) -> None:
    brand.change(logoImgUrl=server.serve("/logo.png", picture(), etag='"1"'))
    first = brand.fetch().sha256
    server.serve("/logo.png", picture("#ffffff"), etag='"2"')
    second = brand.fetch()
    assert second.etag == '"2"'
    assert brand.logo() == f"/brand/images/{second.sha256}" != f"/brand/images/{first}"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            b"no picture",
            "This file is not a picture that can be read. Use SVG, PNG, JPEG, WebP or GIF.",
        ),
        (
            picture(size=(2000, 30)),
            (
                "The picture is 2000 × 30 pixels. It must be at most 12 times as wide as high, and "
                "at most 1.5 times as high as wide."
            ),
        ),
    ],
)
def test_a_file_that_is_no_logo_is_not_shown(
    brand: Brand, server: PictureServer, body: bytes, problem: str
) -> None:
    brand.change(logoImgUrl=server.serve("/logo.png", body))
    assert (brand.fetch().problem, brand.logo()) == (problem, None)


def test_the_first_picture_of_a_kind_counts_and_removed_ones_are_forgotten(
    brand: Brand, server: PictureServer
) -> None:
    hero, icon, other = (server.url(path) for path in ("/hero.png", "/icon.png", "/other.png"))
    brand.change(
        siteImages=[
            {"type": "hero", "imageUrl": hero},
            {"type": "favicon", "imageUrl": icon},
            {"type": "favicon", "imageUrl": other},
        ]
    )
    assert {kind: one.url for kind, one in brand.pictures().items()} == {
        ImageType.HERO: hero,
        ImageType.FAVICON: icon,
    }
    brand.change(siteImages=[{"type": "favicon", "imageUrl": other}])
    assert {kind: one.url for kind, one in brand.pictures().items()} == {ImageType.FAVICON: other}
    brand.change(siteImages=None, logoImgUrl=f"https://portal.example/brand/images/{'a' * 64}")
    assert brand.pictures() == {}
    update_copy(brand.database, brand.settings, brand.id, ImageType.HERO)
    assert server.asked == []


def test_a_result_for_an_earlier_url_is_ignored(brand: Brand, server: PictureServer) -> None:
    brand.change(logoImgUrl=server.url("/a.png"))
    with brand.database.transaction() as session:
        wanted = outside_pictures.begin(session, brand.id, ImageType.LOGO)
    brand.change(logoImgUrl=server.url("/b.png"))
    assert wanted
    with brand.database.transaction() as session:
        outside_pictures.store_result(session, brand.id, wanted, "too late")
    assert brand.pictures()[ImageType.LOGO].checked_at is None


@pytest.mark.parametrize(
    ("hours", "checked", "problem", "due"),
    [
        (23, True, None, 0),
        (25, True, None, 1),
        (0.5, True, "failed", 0),
        (1.5, True, "failed", 1),
        (0.5, False, None, 0),
        (1.5, False, None, 1),
    ],
)
def test_pictures_are_fetched_daily_and_hourly_after_a_problem(
    brand: Brand, hours: float, checked: bool, problem: str | None, due: int
) -> None:
    brand.change(logoImgUrl="https://cdn.example/logo.png")
    with brand.database.transaction() as session:
        before = utcnow() - timedelta(hours=hours)
        values = {"asked_at": before, "checked_at": before if checked else None}
        session.execute(update(OutsidePicture).values(problem=problem, **values))
        assert outside_pictures.refresh_due(session) == due
        assert outside_pictures.refresh_due(session) == 0
