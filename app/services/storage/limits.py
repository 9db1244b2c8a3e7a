"""The limits of storage: checking them before data is stored, and changing them."""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.errors import Forbidden, TooLarge, ValidationFailed, check_version
from app.languages import gettext, gettext_noop
from app.languages.numbers import localize_number, size_unit
from app.models import ContactImport, Organization, Partner
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.storage.usage import (
    limit_of_organization,
    limit_of_partner,
    require_operator,
    used_by_organization,
    used_by_partner,
)
from app.services.tenancy import get_organization, lock_owner

LIMIT_REACHED = "storage_limit_reached"
STORAGE_FULL = gettext_noop(
    "The storage limit was reached while the file waited. Nothing was changed. "
    "Delete old uploads, then upload the file again."
)
"""English, as uploads store it; pages translate it when they show it."""
MAX_BYTES = 10**15
_MEGABYTE = 1_000_000


def require_room(
    session: Session,
    partner_id: UUID,
    organization_id: UUID | None,
    size: int,
    defaults: StorageDefaults,
) -> None:
    """Raise `TooLarge` (``storage_limit_reached``) if this many more bytes exceed a limit, of the
    organization if one is named or of the partner."""
    if organization_id is not None:
        organization = session.get_one(Organization, organization_id)
        used = used_by_organization(session, organization)
        _require_room(_of_organization, used, size, limit_of_organization(organization, defaults))
    used = used_by_partner(session, partner_id)
    partner = session.get_one(Partner, partner_id)
    _require_room(_of_partner, used, size, limit_of_partner(partner, defaults))


def reserve_room(
    session: Session,
    partner_id: UUID,
    organization_id: UUID | None,
    size: int,
    defaults: StorageDefaults,
) -> None:
    """Raise as `require_room`. Other reservations of the partner wait until the transaction ends,
    so that two can't use the same room."""
    lock_owner(session, partner_id)
    require_room(session, partner_id, organization_id, size, defaults)


def is_over_limit(session: Session, upload: ContactImport, defaults: StorageDefaults) -> bool:
    """Return whether the organization or the partner of an upload now stores too much."""
    try:
        require_room(session, upload.partner_id, upload.organization_id, 0, defaults)
    except TooLarge:
        return True
    return False


def change_partner_limit(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    limit: int | None,
    *,
    expected_version: int | None = None,
) -> bool:
    """Set a partner's limit in bytes, None for the installation's; return whether it changed.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``) and `Conflict`
    (``changed_meanwhile``).
    """
    require_operator(caller)
    partner = partners.get(session, caller, partner_id, for_change=True)
    return _set_limit(session, caller, partner, limit, expected_version)


def change_organization_limit(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    limit: int | None,
    *,
    expected_version: int | None = None,
) -> bool:
    """Set an organization's limit, as `change_partner_limit` does; its own users can't."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    organization = get_organization(session, caller, organization_id, for_change=True)
    if caller.organization_id is not None:
        message = gettext("Only the partner sets the storage of an organization.")
        raise Forbidden(message, "insufficient_scope")
    return _set_limit(session, caller, organization, limit, expected_version)


def _set_limit(
    session: Session,
    caller: Caller,
    target: Partner | Organization,
    limit: int | None,
    expected_version: int | None,
) -> bool:
    kind = "partner" if isinstance(target, Partner) else "organization"
    if limit is not None and not 0 <= limit <= MAX_BYTES:
        message = gettext("Enter a limit of 0 MB or more. 0 refuses all uploads.")
        raise ValidationFailed.on("storageLimit", "out_of_range", message)
    if target.storage_limit == limit:
        return False
    check_version(expected_version, target.version, kind)
    before = {"storageLimit": target.storage_limit}
    target.storage_limit = limit
    audit.record_version(
        session,
        caller,
        f"{kind}.storage_limited",
        target,
        before=before,
        after={"storageLimit": limit},
    )
    return True


def _require_room(
    format_usage: Callable[[str, str], str], used: int, size: int, limit: int
) -> None:
    """Raise `TooLarge` unless there is room for this much more; ``format_usage`` writes the first
    sentence."""
    if used + size <= limit:
        return
    sentences = [format_usage(_format_megabytes(used), _format_megabytes(limit))]
    if size:
        sentences.append(gettext("This file needs %(size)s.", size=_format_megabytes(size)))
    sentences.append(gettext("Delete the data of old uploads, or ask for a higher limit."))
    extra = {"usedBytes": used, "limitBytes": limit}
    raise TooLarge(" ".join(sentences), LIMIT_REACHED, extra=extra)


def _of_organization(used: str, limit: str) -> str:
    return gettext(
        "The organization uses %(used)s of its %(limit)s of storage.", used=used, limit=limit
    )


def _of_partner(used: str, limit: str) -> str:
    return gettext("The partner uses %(used)s of its %(limit)s of storage.", used=used, limit=limit)


def _format_megabytes(size: int) -> str:
    return f"{localize_number(size / _MEGABYTE, 1)}\u00a0{size_unit('MB')}"
