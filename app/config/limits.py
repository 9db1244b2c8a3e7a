"""How much is taken of anything, and for how long it counts."""

from pydantic import Field

from app.config.foundation import Foundation


class LimitSettings(Foundation):
    """Most of it answers 413 or 429; the rest is tidied away once its days are over."""

    rate_per_second: int = Field(100, ge=1)
    rate_burst: int = Field(200, ge=1)
    failed_sign_ins: int = Field(20, ge=1)
    max_contacts: int = Field(10_000, ge=1)
    max_contacts_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    max_body_bytes: int = Field(1024 * 1024, ge=1024)
    max_upload_bytes: int = Field(256 * 1024 * 1024, ge=1024)
    max_import_rows: int = Field(1_000_000, ge=1)
    undo_days: int = Field(7, ge=1)
    upload_days: int = Field(30, ge=1)
    """How long the rows of an upload that has ended are kept: see ``rows_kept_days``."""
    token_seconds: int = Field(3600, ge=1)
    session_hours: int = Field(12, ge=1)

    @property
    def rows_kept_days(self) -> int:
        """As long as the undo at least."""
        return max(self.upload_days, self.undo_days)
