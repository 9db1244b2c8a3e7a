"""The effects of a change of plan and limits, in sentences, before it is made."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Tier
from app.languages import gettext, ngettext
from app.languages.numbers import localize_number
from app.models import Organization, PlanLimit
from app.policy import Permission
from app.policy.caller import Caller
from app.services import pricing
from app.services.organizations.limits import USUAL_USER_LIMITS
from app.services.organizations.loading import get
from app.services.organizations.status import active_clients
from app.services.organizations.usage import usage_of


class EffectWeight(StrEnum):
    """The importance of an effect: it adds something, it informs, or it takes something away."""

    GIVES = "gives"
    TO_KNOW = "to-know"
    TAKES = "takes"


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    message: str
    weight: EffectWeight


def effects(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    *,
    tier: Tier | None,
    assistant_limit: int,
    user_limit: int,
) -> list[ChangeEffect]:
    """Return the changes that these values would make, empty if they are the current ones; writes
    nothing.

    ``tier`` None keeps the plan. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    organization = get(session, caller, organization_id)
    use = usage_of(session, [organization.id])[organization.id]
    all_effects: list[ChangeEffect] = []
    if tier is not None and tier is not organization.payment_tier:
        all_effects += _of_plan(session, organization, tier)
    if assistant_limit != organization.assistant_limit:
        now = organization.assistant_limit
        all_effects.append(
            _assistants_effect(organization.name, use.assistants, now, assistant_limit)
        )
    if user_limit != organization.user_limit:
        now = organization.user_limit
        all_effects.append(_users_effect(organization.name, use.users, now, user_limit))
    elif tier not in (None, organization.payment_tier) and user_limit != USUAL_USER_LIMITS[tier]:
        all_effects.append(_kept_user_limit(session, organization, tier))
    return all_effects


def _of_plan(session: Session, organization: Organization, tier: Tier) -> Iterator[ChangeEffect]:
    now = organization.payment_tier
    names = pricing.localized_names(session, organization.partner_id)
    sentence = (
        gettext("The plan changes to %(plan)s immediately.", plan=names[tier])
        if now is None
        else gettext(
            "The plan changes from %(before)s to %(plan)s immediately.",
            before=names[now],
            plan=names[tier],
        )
    )
    yield ChangeEffect(sentence, EffectWeight.TO_KNOW)
    yield from _calls_effects(session, organization, tier, names[tier])
    clients = session.scalar(active_clients(organization.id)) or 0
    if clients and now is Tier.PLUS:
        sentence = ngettext(
            "The legacy API refuses its %(num)s client immediately: it needs the plan %(plan)s.",
            "The legacy API refuses its %(num)s clients immediately: it needs the plan %(plan)s.",
            clients,
            plan=names[Tier.PLUS],
        )
        yield ChangeEffect(sentence, EffectWeight.TAKES)
    if clients and tier is Tier.PLUS:
        sentence = ngettext(
            "The legacy API opens for its %(num)s client.",
            "The legacy API opens for its %(num)s clients.",
            clients,
        )
        yield ChangeEffect(sentence, EffectWeight.GIVES)


def _calls_effects(
    session: Session, organization: Organization, tier: Tier, plan: str
) -> Iterator[ChangeEffect]:
    """Return the calls that the plans allow, if they differ in that."""
    now = organization.payment_tier or Tier.FREE
    before = session.get(PlanLimit, (organization.partner_id, now))
    after = session.get(PlanLimit, (organization.partner_id, tier))
    for kind, name in (("at once", "max_calls_at_once"), ("a day", "max_calls_a_day")):
        old, new = getattr(before, name, None), getattr(after, name, None)
        if new != old:
            weight = EffectWeight.TAKES if takes_calls(old, new) else EffectWeight.GIVES
            yield ChangeEffect(calls_allowed(plan, kind, old, new), weight)


def takes_calls(old: int | None, new: int | None) -> bool:
    """Return whether a limit of calls becomes lower; None means no limit."""
    return new is not None and (old is None or new < old)


def calls_allowed(plan: str, kind: str, old: int | None, new: int | None) -> str:
    """Return a sentence such as "Basic allows each organization 2 calls at once instead of as many
    as this portal."

    ``kind`` is "at once" or "a day"."""
    values: dict[str, object] = {"plan": plan, "before": localize_number(old or 0)}
    is_at_once = kind == "at once"
    if new is None and is_at_once:
        return gettext(
            "%(plan)s allows each organization as many concurrent calls as this portal instead of "
            "%(before)s.",
            **values,
        )
    if new is None:
        return gettext(
            "%(plan)s allows each organization any number of calls a day instead of %(before)s.",
            **values,
        )
    if old is None and is_at_once:
        return ngettext(
            "%(plan)s allows each organization %(num)s concurrent call instead of as many as this "
            "portal.",
            "%(plan)s allows each organization %(num)s concurrent calls instead of as many as this "
            "portal.",
            new,
            **values,
        )
    if old is None:
        return ngettext(
            "%(plan)s allows each organization %(num)s call a day instead of any number.",
            "%(plan)s allows each organization %(num)s calls a day instead of any number.",
            new,
            **values,
        )
    if is_at_once:
        return ngettext(
            "%(plan)s allows each organization %(num)s concurrent call instead of %(before)s.",
            "%(plan)s allows each organization %(num)s concurrent calls instead of %(before)s.",
            new,
            **values,
        )
    return ngettext(
        "%(plan)s allows each organization %(num)s call a day instead of %(before)s.",
        "%(plan)s allows each organization %(num)s calls a day instead of %(before)s.",
        new,
        **values,
    )


def _assistants_effect(name: str, used: int, before: int, limit: int) -> ChangeEffect:
    if not limit:
        sentence = ngettext(
            "%(name)s has %(num)s assistant, with no limit.",
            "%(name)s has %(num)s assistants, with no limit.",
            used,
            name=name,
        )
        return ChangeEffect(sentence, EffectWeight.GIVES)
    has = ngettext(
        "%(name)s has %(num)s assistant, the new limit is %(limit)s",
        "%(name)s has %(num)s assistants, the new limit is %(limit)s",
        used,
        name=name,
        limit=localize_number(limit),
    )
    if used > limit:
        sentence = gettext(
            "%(has)s: the next assistant will be refused; nothing is switched off.", has=has
        )
    elif used == limit:
        sentence = gettext("%(has)s: the next assistant will be refused.", has=has)
    else:
        sentence = _with_room(has, limit - used)
    return ChangeEffect(sentence, _weight(used, before, limit))


def _users_effect(name: str, used: int, before: int, limit: int) -> ChangeEffect:
    if not limit:
        sentence = ngettext(
            "%(name)s has %(num)s user, with no limit.",
            "%(name)s has %(num)s users, with no limit.",
            used,
            name=name,
        )
        return ChangeEffect(sentence, EffectWeight.GIVES)
    has = ngettext(
        "%(name)s has %(num)s user, the new limit is %(limit)s",
        "%(name)s has %(num)s users, the new limit is %(limit)s",
        used,
        name=name,
        limit=localize_number(limit),
    )
    if used > limit:
        sentence = gettext(
            "%(has)s: the next invitation will be refused; all users can still sign in.", has=has
        )
    elif used == limit:
        sentence = gettext("%(has)s: the next invitation will be refused.", has=has)
    else:
        sentence = _with_room(has, limit - used)
    return ChangeEffect(sentence, _weight(used, before, limit))


def _kept_user_limit(session: Session, organization: Organization, tier: Tier) -> ChangeEffect:
    usual = USUAL_USER_LIMITS[tier]
    values: dict[str, object] = {
        "plan": pricing.localized_names(session, organization.partner_id)[tier],
        "limit": localize_number(organization.user_limit),
    }
    if organization.user_limit:
        sentence = ngettext(
            "The user limit stays at %(limit)s; %(plan)s includes %(num)s user.",
            "The user limit stays at %(limit)s; %(plan)s includes %(num)s users.",
            usual,
            **values,
        )
    else:
        sentence = ngettext(
            "The number of users stays unlimited; %(plan)s includes %(num)s user.",
            "The number of users stays unlimited; %(plan)s includes %(num)s users.",
            usual,
            **values,
        )
    return ChangeEffect(sentence, EffectWeight.TO_KNOW)


def _with_room(has: str, remaining: int) -> str:
    # Translators: %(has)s is "Riverside has 2 users, the new limit is 5".
    return gettext("%(has)s: %(num)s more can be added.", has=has, num=localize_number(remaining))


def _weight(used: int, before: int, limit: int) -> EffectWeight:
    if used >= limit:
        return EffectWeight.TAKES
    return EffectWeight.GIVES if before and limit > before else EffectWeight.TO_KNOW
