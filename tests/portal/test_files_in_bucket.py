"""Screens whose files are in a bucket: uploads, players, downloads, and an outage."""

import threading
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.enums import ImportStatus, RecordingStatus, Role
from app.gateways.files.outages import retry_on_file_outage
from app.models import User
from app.services.imports.pipeline import check_file
from tests.fixtures.s3_server import S3Server, breakable_connection
from tests.fixtures.tenants import Tenant
from tests.fixtures.voice_engine import WAV
from tests.portal.conftest import Browser
from tests.portal.test_call_conversations import record
from tests.portal.test_calls import answered, make_call
from tests.portal.uploader import Uploader

PEOPLE = "Name,Phone\nAnn,+12025550123\n"


@pytest.fixture
def prefix(app: Flask) -> str:
    return uuid4().hex


def test_an_uploaded_file_is_checked_and_removed_when_cancelled(
    uploader: Uploader, s3_server: S3Server, prefix: str
) -> None:
    uploader.app.extensions["files"] = s3_server.files(prefix)
    address = uploader.upload(PEOPLE)
    assert (uploader.now(address).status, s3_server.names(prefix)) == (
        ImportStatus.CHECKED,
        [uploader.now(address).file_key],
    )
    uploader.browser.post(f"{address}/cancel", page=address)
    assert s3_server.names(prefix) == []


def test_an_upload_during_an_outage_is_answered_with_503_and_leaves_nothing(
    uploader: Uploader, s3_server: S3Server, prefix: str
) -> None:
    with breakable_connection(s3_server) as connection:
        uploader.app.extensions["files"] = s3_server.files(
            prefix, files_endpoint=connection.url, files_seconds=0.5
        )
        connection.cut = True
        answer = uploader.send(PEOPLE)
    assert answer.status_code == 503
    assert "The file storage does not answer. Try again in a moment." in answer.text
    assert "No uploads yet" in uploader.browser.get("/uploads").text
    assert s3_server.names(prefix) == []


def test_a_worker_reads_files_after_an_outage(
    uploader: Uploader, s3_server: S3Server, prefix: str
) -> None:
    with breakable_connection(s3_server) as connection:
        files = s3_server.files(prefix, files_endpoint=connection.url, files_seconds=0.5)
        uploader.app.extensions["files"] = files
        upload_id = UUID(uploader.send(PEOPLE).location.rpartition("/")[2])
        connection.cut = True
        threading.Timer(1.0, setattr, (connection, "cut", False)).start()
        began = time.monotonic()
        retry_on_file_outage(check_file)(uploader.database, files, upload_id, 1)
        assert time.monotonic() - began > 1
    assert uploader.now(f"/uploads/{upload_id}").status is ImportStatus.CHECKED


def test_cancelling_during_an_outage_leaves_the_file_to_the_worker(
    uploader: Uploader, s3_server: S3Server, prefix: str
) -> None:
    with breakable_connection(s3_server) as connection:
        uploader.app.extensions["files"] = s3_server.files(
            prefix, files_endpoint=connection.url, files_seconds=0.5
        )
        address = uploader.upload(PEOPLE)
        connection.cut = True
        assert uploader.browser.post(f"{address}/cancel", page=address).status_code == 303
    found = uploader.now(address)
    assert (found.status, s3_server.names(prefix)) == (ImportStatus.CANCELLED, [found.file_key])


@pytest.mark.parametrize("downloads", ["portal", "bucket"])
def test_recordings_play_from_our_origin_and_are_saved_from_where_the_settings_say(
    app: Flask,
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    signed_in: Callable[[User], Browser],
    s3_server: S3Server,
    prefix: str,
    downloads: str,
) -> None:
    app.extensions["files"] = s3_server.files(prefix, files_downloads=downloads)
    call = make_call(session, tenant.organization, "+12025550101", **answered())
    session.commit()
    record(session, app, call, RecordingStatus.STORED)
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    address = f"/calls/{call.id}/recording"

    whole = browser.get(address)
    assert (whole.status_code, whole.data) == (200, WAV)
    part = browser.get(address, headers={"Range": "bytes=4-11"})
    assert (part.status_code, part.data) == (206, WAV[4:12])
    assert part.headers["Content-Range"] == f"bytes 4-11/{len(WAV)}"
    saved = browser.get(f"{address}?download=1")
    assert saved.headers["Cache-Control"] == "private, no-store"
    if downloads == "portal":
        assert (saved.status_code, saved.data) == (200, WAV)
    else:
        link = urlsplit(saved.location)
        query = parse_qs(link.query)
        assert (saved.status_code, f"{link.scheme}://{link.netloc}") == (303, s3_server.url)
        assert query["X-Amz-Expires"] == ["60"]
        expected = f'attachment; filename="call-{call.id}.wav"'
        assert query["response-content-disposition"] == [expected]
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert stranger.get(f"{address}?download=1").status_code == 404

    for key in s3_server.names(prefix):
        app.extensions["files"].delete(key)
    assert browser.get(f"{address}?download=1").status_code == 404
