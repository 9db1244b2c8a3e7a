"""How the users of a partner sign in: who needs a second factor, and how long sessions last."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import SecondFactorFor
from app.errors import Problem, raise_problems
from app.languages import gettext
from app.models import Partner
from app.policy import Permission
from app.policy.caller import Caller
from app.services.partners.loading import lock_partner
from app.services.partners.updating import record_update

MIN_IDLE_MINUTES = 5


@dataclass(frozen=True, slots=True)
class SignInPolicy:
    """None is the limit of the installation, which a partner's own can't exceed."""

    second_factor_for: SecondFactorFor = SecondFactorFor.NONE
    session_hours: int | None = None
    idle_minutes: int | None = None


def of_partner(partner: Partner) -> SignInPolicy:
    return SignInPolicy(
        SecondFactorFor(partner.second_factor_for), partner.session_hours, partner.idle_minutes
    )


def save(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    policy: SignInPolicy,
    settings: Settings,
    *,
    expected_version: int | None = None,
) -> Partner:
    """Change the policy, which open sessions follow at once.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``) and `Conflict`
    (``changed_meanwhile``).
    """
    caller.require(Permission.PARTNER_WRITE)
    partner = lock_partner(session, caller, partner_id, expected_version)
    problems = [
        *out_of_range("sessionHours", policy.session_hours, 1, settings.session_hours),
        *out_of_range(
            "idleMinutes", policy.idle_minutes, MIN_IDLE_MINUTES, settings.session_idle_minutes
        ),
    ]
    raise_problems(problems)
    before = of_partner(partner)
    if before == policy:
        return partner
    partner.second_factor_for = policy.second_factor_for.value
    partner.session_hours, partner.idle_minutes = policy.session_hours, policy.idle_minutes
    record_update(session, caller, partner, _audit_values(before), _audit_values(policy))
    return partner


def out_of_range(field: str, value: int | None, minimum: int, maximum: int) -> list[Problem]:
    """Return the problem of a field whose value is too low or too high; None is in range."""
    if value is None or minimum <= value <= maximum:
        return []
    message = gettext("Enter a number from %(least)s to %(most)s.", least=minimum, most=maximum)
    return [Problem(field, "out_of_range", message)]


def _audit_values(policy: SignInPolicy) -> dict[str, object]:
    return {
        "secondFactorFor": policy.second_factor_for,
        "sessionHours": policy.session_hours,
        "idleMinutes": policy.idle_minutes,
    }
