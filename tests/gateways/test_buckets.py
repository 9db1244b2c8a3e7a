"""The special cases of files in a bucket: parts, encryption, links, refusals and outages."""

import io
import logging
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from app.config import Settings
from app.errors import Unavailable
from app.gateways.buckets import MAX_PARTS, PART, Bucket
from app.gateways.files import FileStore
from tests.fixtures.s3_server import BUCKET, S3Server, breakable_connection
from tests.gateways.test_files import LARGE, soon

WORDS = "The file storage does not answer. Try again in a moment. Nothing was saved."
OPERATIONS: dict[str, Callable[[FileStore, str], Any]] = {
    "save": lambda files, _key: files.save(io.BytesIO(b"Ann"), max_bytes=3),
    "save a large file": lambda files, _key: files.save(io.BytesIO(LARGE), max_bytes=len(LARGE)),
    "open": lambda files, key: files.open(key),
    "fetch": lambda files, key: files.fetch(key),
    "list": lambda files, _key: files.keys_before(soon()),
    "delete": lambda files, key: files.delete(key),
    "identity": lambda files, _key: files.identity(),
    "mark": lambda files, _key: files.mark("x"),
}


@pytest.fixture
def prefix() -> str:
    return uuid4().hex


def test_a_large_file_is_uploaded_in_parts_and_a_broken_upload_leaves_none(
    s3_server: S3Server, prefix: str
) -> None:
    files = s3_server.files(prefix)
    large = files.save(io.BytesIO(LARGE), max_bytes=len(LARGE)).key
    small = files.save(io.BytesIO(b"Ann"), max_bytes=3).key
    tags = {
        key: s3_server.client.head_object(Bucket=BUCKET, Key=f"{prefix}/{key}")["ETag"]
        for key in (large, small)
    }
    parts = {key: tag.strip('"').partition("-")[2] for key, tag in tags.items()}
    assert parts == {large: "4", small: ""}
    with pytest.raises(Exception, match="larger than"):
        files.save(io.BytesIO(LARGE), max_bytes=len(LARGE) - 1)
    assert "Uploads" not in s3_server.client.list_multipart_uploads(Bucket=BUCKET)


def test_a_very_large_object_has_larger_parts_since_s3_takes_ten_thousand(
    s3_server: S3Server, prefix: str
) -> None:
    bucket = Bucket(Settings(**s3_server.settings(prefix)), f"s3://{BUCKET}/{prefix}")
    chunks = [LARGE[at : at + PART] for at in range(0, len(LARGE), PART)]
    bucket.put("backup", chunks, size=MAX_PARTS * 2 * PART)
    stored = s3_server.client.head_object(Bucket=BUCKET, Key=f"{prefix}/backup")
    assert (stored["ContentLength"], stored["ETag"].strip('"')[-2:]) == (len(LARGE), "-2")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (None, None)),
        ({"files_encryption": "aes256"}, ("AES256", None)),
        ({"files_encryption": "kms", "files_kms_key": "alias/portal"}, ("aws:kms", "alias/portal")),
    ],
)
def test_the_bucket_is_asked_to_encrypt(
    s3_server: S3Server,
    prefix: str,
    settings: dict[str, str],
    expected: tuple[str | None, str | None],
) -> None:
    files = s3_server.files(prefix, **settings)
    for content in (b"Ann", LARGE):
        key = files.save(io.BytesIO(content), max_bytes=len(LARGE)).key
        found = s3_server.client.head_object(Bucket=BUCKET, Key=f"{prefix}/{key}")
        assert (found.get("ServerSideEncryption"), found.get("SSEKMSKeyId")) == expected


def test_a_signed_link_names_the_file_and_is_signed_as_by_the_library_of_aws(
    s3_server: S3Server, prefix: str
) -> None:
    plain, linking = (
        s3_server.files(prefix, files_downloads=kind) for kind in ("portal", "bucket")
    )
    key = plain.save(io.BytesIO(b"Name\nAnn\n"), max_bytes=9).key
    assert plain.link(key, "calls.csv", "text/csv; charset=utf-8") is None
    wanted = {
        "Bucket": BUCKET,
        "Key": f"{prefix}/{key}",
        "ResponseCacheControl": "private, no-store",
        "ResponseContentDisposition": 'attachment; filename="calls.csv"',
        "ResponseContentType": "text/csv; charset=utf-8",
    }
    ours, theirs = {"X-Amz-Date": ["ours"]}, {"X-Amz-Date": ["theirs"]}
    while ours["X-Amz-Date"] != theirs["X-Amz-Date"]:  # until both are of one second
        link = linking.link(key, "calls.csv", "text/csv; charset=utf-8")
        expected = s3_server.client.generate_presigned_url("get_object", wanted, ExpiresIn=60)
        ours, theirs = (parse_qs(urlsplit(str(each)).query) for each in (link, expected))
    assert ours == theirs
    assert urlsplit(str(link))[:3] == urlsplit(expected)[:3]


@pytest.mark.parametrize("change", [{"files_key_secret": "wrong"}, {"files_key_id": "AKIAWRONG"}])
def test_wrong_credentials_count_as_an_outage_and_the_log_has_no_secret(
    s3_server: S3Server, prefix: str, change: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    files = s3_server.files(prefix, **change)
    for operation in ("save", "open", "list", "identity"):
        with pytest.raises(Unavailable):
            OPERATIONS[operation](files, uuid4().hex)
    found = [record.getMessage() for record in caplog.records if record.name.startswith("app.")]
    assert len(found) == 4
    assert all("403 Forbidden" in line for line in found), found
    for secret in (s3_server.secret, "wrong", "AKIAWRONG", s3_server.key, "Signature"):
        assert not [line for line in found if secret in line]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("state", ["cut", "silent"])
def test_an_outage_ends_in_time_with_one_error_and_a_log_line(
    s3_server: S3Server,
    prefix: str,
    operation: str,
    state: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with breakable_connection(s3_server) as connection:
        files = s3_server.files(prefix, files_endpoint=connection.url, files_seconds=0.5)
        key = s3_server.files(prefix).save(io.BytesIO(b"Ann"), max_bytes=3).key
        setattr(connection, state, True)
        began = time.monotonic()
        with pytest.raises(Unavailable) as outage:
            OPERATIONS[operation](files, key)
        assert time.monotonic() - began < 5
    assert (outage.value.message, outage.value.code) == (WORDS, "file_storage_unavailable")
    [logged] = [each.getMessage() for each in caplog.records if each.name == "app.gateways.buckets"]
    assert logged.startswith("the bucket can't be used (")
    assert s3_server.files(prefix).keys_before(soon()) == [key]


def test_reading_notices_an_outage_in_the_middle(s3_server: S3Server, prefix: str) -> None:
    with breakable_connection(s3_server) as connection:
        files = s3_server.files(prefix, files_endpoint=connection.url, files_seconds=2)
        key = s3_server.files(prefix).save(io.BytesIO(LARGE), max_bytes=len(LARGE)).key
        with files.open(key) as file:
            assert file.read(4) == b"0123"
            connection.cut = True
            with pytest.raises(Unavailable):
                file.read()
