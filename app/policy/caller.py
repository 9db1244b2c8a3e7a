"""The caller of a service, made from the credential alone: the tenant never comes from input."""

from dataclasses import dataclass, field
from uuid import UUID

from app.enums import CallerKind, Role
from app.errors import Forbidden
from app.languages import gettext
from app.policy import ROLE_PERMISSIONS, Permission


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated subject of a request.

    ``partner_id`` is None only for the platform operator, ``organization_id`` is set if the
    credential belongs to one organization (standard users, API keys, some clients). ``live`` is
    False for test keys. ``label`` is the name that the history shows.
    """

    kind: CallerKind
    role: Role
    subject_id: UUID | None
    label: str
    partner_id: UUID | None = None
    organization_id: UUID | None = None
    permissions: frozenset[Permission] = field(default_factory=frozenset)
    live: bool = True
    ip: str | None = None
    request_id: str | None = None
    is_limited: bool = False
    """Whether an admin sees only the organizations of some groups (`app.services.tenancy`)."""
    viewed_by: UUID | None = None
    """The operator who views the portal as this user; such a caller changes nothing."""

    @property
    def is_operator(self) -> bool:
        return self.role is Role.OPERATOR

    @property
    def user_id(self) -> UUID | None:
        """The id of the user; None for scripts and the application itself."""
        return self.subject_id if self.kind is CallerKind.USER else None

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions

    def require(self, permission: Permission) -> None:
        """Raise `Forbidden` (code ``insufficient_scope``) if the permission is missing."""
        if permission not in self.permissions:
            message = gettext(
                "This needs the permission %(permission)s, which the credential does not have.",
                permission=permission.value,
            )
            raise Forbidden(message, "insufficient_scope", extra={"permission": permission.value})

    def require_operator(self, message: str) -> None:
        """Raise `Forbidden` (``insufficient_scope``) unless the caller is the platform operator,
        with the permission to create partners."""
        if not self.is_operator:
            raise Forbidden(message, "insufficient_scope")
        self.require(Permission.PARTNER_CREATE)

    def require_command_line(self, message: str) -> None:
        """Raise `Forbidden` (``command_line_only``) for a user and for scripts."""
        if self.kind is not CallerKind.SYSTEM:
            raise Forbidden(message, "command_line_only")

    def require_write(self) -> None:
        """Raise `Forbidden` (``view_only``) for an operator who views the portal as this user."""
        if self.viewed_by is not None:
            message = gettext("You view the portal as another user. Nothing can be changed.")
            raise Forbidden(message, "view_only")

    def require_grant(self, role: Role) -> None:
        """Raise `Forbidden` (``insufficient_scope``) if the credential has fewer permissions than a
        user of this role."""
        for permission in sorted(ROLE_PERMISSIONS[role] & ROLE_PERMISSIONS[self.role]):
            self.require(permission)


def system_caller(label: str = "system", partner_id: UUID | None = None) -> Caller:
    """Return the application itself as caller, for jobs and the command line, with the operator's
    rights."""
    return Caller(
        kind=CallerKind.SYSTEM,
        role=Role.OPERATOR,
        subject_id=None,
        label=label,
        partner_id=partner_id,
        permissions=frozenset(Permission),
    )
