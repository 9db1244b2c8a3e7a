"""The effects of a change of plan and limits, in sentences, before it is made."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import TIER_NAMES, Tier
from app.models import OAuthClient, Organization, PlanLimit
from app.policy import Permission
from app.policy.caller import Caller
from app.services.organizations.loading import get
from app.services.organizations.use import use_of


class Weight(StrEnum):
    """The importance of an effect: it adds something, it informs, or it takes something away."""

    GIVES = "gives"
    TO_KNOW = "to-know"
    TAKES = "takes"


@dataclass(frozen=True, slots=True)
class Effect:
    sentence: str
    weight: Weight


def effects(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    *,
    tier: Tier | None,
    assistant_limit: int,
    user_limit: int,
) -> list[Effect]:
    """Return what these values would change, nothing if they are the current ones; writes nothing.

    ``tier`` None keeps the plan. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    organization = get(session, caller, organization_id)
    use = use_of(session, [organization.id])[organization.id]
    found: list[Effect] = []
    if tier is not None and tier is not organization.payment_tier:
        found += _of_plan(session, organization, tier)
    if assistant_limit != organization.assistant_limit:
        now = organization.assistant_limit
        found.append(
            _of_limit(organization.name, use.assistants, now, assistant_limit, _ASSISTANTS)
        )
    if user_limit != organization.user_limit:
        now = organization.user_limit
        found.append(_of_limit(organization.name, use.users, now, user_limit, _USERS))
    return found


def _of_plan(session: Session, organization: Organization, tier: Tier) -> list[Effect]:
    now = organization.payment_tier
    before = f"from {TIER_NAMES[now]} " if now is not None else ""
    sentence = f"The plan changes {before}to {TIER_NAMES[tier]} immediately."
    found = [Effect(sentence, Weight.TO_KNOW), *_of_calls(session, organization, tier)]
    clients = _legacy_clients(session, organization)
    words = "1 client" if clients == 1 else f"{clients} clients"
    if clients and now is Tier.PLUS:
        sentence = f"The legacy API refuses its {words} immediately: it needs the Plus plan."
        found.append(Effect(sentence, Weight.TAKES))
    if clients and tier is Tier.PLUS:
        found.append(Effect(f"The legacy API opens for its {words}.", Weight.GIVES))
    return found


def _of_calls(session: Session, organization: Organization, tier: Tier) -> Iterator[Effect]:
    """Return the calls that the plans allow, if they differ in that."""
    now = organization.payment_tier or Tier.FREE
    before = session.get(PlanLimit, (organization.partner_id, now))
    after = session.get(PlanLimit, (organization.partner_id, tier))
    for what, name in (("at once", "max_calls_at_once"), ("a day", "max_calls_a_day")):
        old, new = getattr(before, name, None), getattr(after, name, None)
        if new != old:
            weight = Weight.TAKES if takes_calls(old, new) else Weight.GIVES
            yield Effect(calls_allowed(TIER_NAMES[tier], what, old, new), weight)


def takes_calls(old: int | None, new: int | None) -> bool:
    """Whether a limit of calls becomes lower; None is no limit."""
    return new is not None and (old is None or new < old)


def calls_allowed(plan: str, what: str, old: int | None, new: int | None) -> str:
    """Basic allows each organization 2 calls at once instead of any number."""
    before = "any number" if old is None else f"{old:,}"
    calls = "any number of calls" if new is None else f"{new:,} {'call' if new == 1 else 'calls'}"
    return f"{plan} allows each organization {calls} {what} instead of {before}."


def _legacy_clients(session: Session, organization: Organization) -> int:
    query = select(func.count()).where(
        OAuthClient.organization_id == organization.id,
        OAuthClient.revoked_at.is_(None),
        OAuthClient.suspended_at.is_(None),
    )
    return session.scalar(query) or 0


@dataclass(frozen=True, slots=True)
class _Limit:
    """The words for a limit."""

    one: str
    many: str
    refused: str
    kept: str


_ASSISTANTS = _Limit("assistant", "assistants", "the next assistant", "nothing is switched off")
_USERS = _Limit("user", "users", "the next invitation", "all users can still sign in")


def _of_limit(name: str, used: int, before: int, limit: int, kind: _Limit) -> Effect:
    has = f"{name} has {used:,} {kind.one if used == 1 else kind.many}"
    if not limit:
        return Effect(f"{has}, with no limit.", Weight.GIVES)
    has += f", the new limit is {limit:,}"
    if used >= limit:
        kept = f"; {kind.kept}" if used > limit else ""
        return Effect(f"{has}: {kind.refused} will be refused{kept}.", Weight.TAKES)
    left = limit - used
    weight = Weight.GIVES if before and limit > before else Weight.TO_KNOW
    return Effect(f"{has}: {left:,} more {'fits' if left == 1 else 'fit'}.", weight)
