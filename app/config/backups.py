"""Backups that the worker makes by itself."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from app.config.base import CommonSettings
from app.config.files import check_url


class BackupSettings(CommonSettings):
    """Without a folder or bucket, backups are made by the command line only."""

    backup_dir: Path | None = None
    """Folder for daily backups, on another disk or mounted from another machine. Without it: the
    worker makes none."""
    backup_bucket: str = ""
    """Bucket for daily backups instead of a folder: ``s3://bucket/prefix``, another one than that
    of the files. Endpoint, region, keys and encryption are those of the files."""
    backup_public_key: str = ""
    """Public keys (``age1…``) that backups are encrypted for, separated by spaces.
    ``flask --app wsgi backup key`` makes a pair. Required with a folder."""
    backup_hour: int = Field(3, ge=0, le=23)
    """Hour (UTC) of the daily backup."""
    backup_keep: int = Field(14, ge=1)
    """How many backups stay in the folder; older ones are removed after a new one has succeeded."""

    backup_scratch_url: str = Field("", repr=False)
    """PostgreSQL database whose role may create databases: each daily backup is restored into a new
    one there and compared. Without it: next to the portal's own database, if its role may create
    one."""

    @model_validator(mode="after")
    def _refuse_plain_backups(self) -> Self:
        if self.backup_place and not self.backup_public_keys:
            message = "PORTAL_BACKUP_PUBLIC_KEY must be set where PORTAL_BACKUP_DIR is."
            raise ValueError(message)
        if self.backup_dir is not None and self.backup_bucket:
            message = "Set PORTAL_BACKUP_DIR or PORTAL_BACKUP_BUCKET, not both."
            raise ValueError(message)
        if self.backup_bucket:
            check_url("PORTAL_BACKUP_BUCKET", self.backup_bucket, may_be_folder=False)
        if any(not key.startswith("age1") for key in self.backup_public_keys):
            message = "PORTAL_BACKUP_PUBLIC_KEY holds public keys of age, which begin with age1."
            raise ValueError(message)
        return self

    @property
    def backup_place(self) -> str:
        """The folder or bucket of the daily backups, or nothing."""
        return self.backup_bucket or str(self.backup_dir or "")

    @property
    def backup_public_keys(self) -> list[str]:
        return self.backup_public_key.split()
