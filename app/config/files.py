"""Where uploads, recordings, exports and kept backups are stored."""

from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, model_validator

from app.config.base import CommonSettings


class FileSettings(CommonSettings):
    """Without an address, files are in the instance folder, for one host."""

    files_url: str = ""
    """Where uploads, recordings and exports are stored: ``s3://bucket/prefix``, which needs the
    packages of requirements-s3.lock, or ``file:///a/folder`` that all hosts mount. Without it:
    ``uploads`` in the instance folder."""
    files_endpoint: str = ""
    """Address of an S3-compatible server, such as ``https://minio.example.com``. Without it: AWS.
    """
    files_region: str = "us-east-1"
    """Region of the buckets."""
    files_key_id: str = ""
    """ID of the key for the buckets. Without it: the role of the machine, as AWS provides it."""
    files_key_secret: str = Field("", repr=False)
    """Secret of this key."""
    files_encryption: Literal["none", "aes256", "kms"] = "none"
    """Encryption requested from the bucket: ``aes256`` (SSE-S3), ``kms`` (SSE-KMS), or ``none`` for
    the bucket's default."""
    files_kms_key: str = ""
    """ID or ARN of the key for ``kms``. Without it: the default key of the account."""
    files_seconds: float = Field(20.0, gt=0)
    """Time limit of one request to the bucket, and of repeating it."""
    files_downloads: Literal["portal", "bucket"] = "portal"
    """What sends files that users save: the portal, or the bucket by a signed link of one minute,
    which shows the bucket's host name to users and needs ``PORTAL_FILES_KEY_ID``."""

    @model_validator(mode="after")
    def _refuse_unusable_store(self) -> Self:
        if self.files_url:
            check_url("PORTAL_FILES_URL", self.files_url)
        if bool(self.files_key_id) != bool(self.files_key_secret):
            message = "Set PORTAL_FILES_KEY_ID and PORTAL_FILES_KEY_SECRET, or none of them."
            raise ValueError(message)
        if self.files_downloads == "bucket" and not (
            self.files_url.startswith("s3:") and self.files_key_id
        ):
            message = (
                "PORTAL_FILES_DOWNLOADS=bucket needs an s3:// address in PORTAL_FILES_URL, and "
                "PORTAL_FILES_KEY_ID."
            )
            raise ValueError(message)
        return self


def folder_of(url: str) -> Path | None:
    """Return the folder of ``file:///a/folder``; None for a bucket."""
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def check_url(name: str, url: str, *, may_be_folder: bool = True) -> None:
    """Raise ``ValueError`` unless the address is that of a bucket, or of a folder."""
    parts = urlsplit(url)
    plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    is_bucket = parts.scheme == "s3" and parts.netloc
    is_folder = parts.scheme == "file" and not parts.netloc and Path(parts.path).is_absolute()
    if not plain or not (is_bucket or (is_folder and may_be_folder)):
        either = " or file:///a/folder" if may_be_folder else ""
        message = f"{name} is written s3://bucket/prefix{either}."
        raise ValueError(message)
    if is_bucket and find_spec("obstore") is None:
        message = f"{name} names a bucket: install the packages of requirements-s3.lock."
        raise ValueError(message)
