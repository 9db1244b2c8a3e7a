"""The form of a storage limit."""

from typing import ClassVar, Self

from app.languages import lazy_gettext
from app.portal.web.fields import VersionField, WholeNumber
from app.portal.web.forms import PortalForm

MEGABYTE = 1_000_000


class StorageLimitForm(PortalForm):
    """A limit in megabytes; blank is the limit of the installation."""

    wire_fields: ClassVar[dict[str, str]] = {"storageLimit": "megabytes"}
    version = VersionField()
    megabytes = WholeNumber(lazy_gettext("Storage limit"))

    @classmethod
    def showing(cls, limit: int | None, version: int) -> Self:
        megabytes = None if limit is None else limit // MEGABYTE
        return cls.from_object(megabytes=megabytes, version=version)

    @property
    def limit(self) -> int | None:
        """Return the limit in bytes."""
        megabytes: int | None = self.megabytes.data
        return None if megabytes is None else megabytes * MEGABYTE
