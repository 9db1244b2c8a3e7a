"""The life cycle of a partner's plans: a draft is edited, then published as a version or discarded.

Published versions stay, so that a month is rated with the terms that applied in it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.errors import Conflict, NotFound, ValidationFailed, check_version, content_version
from app.languages import gettext
from app.models import PlanVersion, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import audit, partners
from app.services.pricing.differences import PlanChange, differences
from app.services.pricing.plans import LOCAL_ID, EditedPlan, check
from app.services.pricing.published_plans import plans_of, published, remember_published_of

PRICED = (Tier.FREE, Tier.BASIC, Tier.PLUS)
"""The plans that the contract's ``pricing`` can name, by size."""


@dataclass(frozen=True, slots=True)
class PlanSet:
    """The plans to edit: those of the draft, else the ``published`` ones."""

    plans: Sequence[EditedPlan]
    published: Sequence[EditedPlan]
    draft: PlanVersion | None
    last: PlanVersion | None

    @property
    def fingerprint(self) -> int:
        """Return a number that identifies the plans on which a form is based."""
        return content_version(repr(list(self.plans)).encode())

    @property
    def changes(self) -> list[PlanChange]:
        """Return the unpublished changes."""
        return differences(self.published, self.plans)


def names(session: Session, partner_id: UUID) -> dict[Tier, str]:
    """Return the names of the published plans, in order; see `published`."""
    return {plan.tier: plan.name for plan in published(session, partner_id)}


def localized_names(session: Session, partner_id: UUID) -> dict[Tier, str]:
    """As `names`, in the current language."""
    return {plan.tier: plan.localized().name for plan in published(session, partner_id)}


def localized_names_of(
    session: Session, partner_ids: Collection[UUID]
) -> dict[UUID, dict[Tier, str]]:
    """As `localized_names`, of several partners: one query in a read-only transaction."""
    remember_published_of(session, partner_ids)
    return {partner_id: localized_names(session, partner_id) for partner_id in partner_ids}


def live(session: Session, partner_id: UUID) -> list[EditedPlan]:
    """Return the plans of the version published last; none before the first."""
    version = session.scalar(_last_version(partner_id))
    return plans_of(version) if version else []


def _last_version(partner_id: UUID) -> Select[PlanVersion]:
    return published_versions(partner_id).order_by(PlanVersion.number.desc()).limit(1)


def current(session: Session, caller: Caller, partner_id: UUID) -> PlanSet:
    """Return the plans to edit. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.PRICING_READ)
    partners.check(session, caller, partner_id)
    return _current_plans(session, partner_id)


def save(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    plan: EditedPlan,
    *,
    expected_version: int | None = None,
) -> PlanSet:
    """Write a plan into the draft, creating it if there is none.

    ``expected_version`` is the `PlanSet.fingerprint` on which the form is based. Raises
    `Forbidden`, `NotFound`, `ValidationFailed` (also ``price_id_taken``: one price can't be that of
    two plans) and `Conflict` (``changed_meanwhile``).
    """
    plan_set = check_and_lock(session, caller, partner_id, plan, expected_version=expected_version)
    return _store_draft(
        session, caller, partner_id, plan_set, _replace_plan(plan_set, plan), plan.name
    )


def check_and_lock(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    plan: EditedPlan,
    *,
    expected_version: int | None = None,
) -> PlanSet:
    """Return the plans into whose draft ``plan`` may be written, with the partner locked. Raises as
    `save`."""
    plan_set = _lock_current(session, caller, partner_id)
    check(plan)
    _refuse_duplicate_id(plan, plan_set.plans)
    if _replace_plan(plan_set, plan) != list(plan_set.plans):
        check_version(expected_version, plan_set.fingerprint, "plans")
    return plan_set


def move(session: Session, caller: Caller, partner_id: UUID, tier: Tier, steps: int) -> PlanSet:
    """Move a plan in the draft's order; earlier for negative steps. Raises `Forbidden`,
    `NotFound`."""
    plan_set = _lock_current(session, caller, partner_id)
    plans = list(plan_set.plans)
    position = next(index for index, plan in enumerate(plans) if plan.tier is tier)
    plan = plans.pop(position)
    plans.insert(max(0, position + steps), plan)
    return _store_draft(session, caller, partner_id, plan_set, plans, plan.name)


def show(session: Session, caller: Caller, partner_id: UUID, tier: Tier) -> EditedPlan:
    """Make a hidden plan visible in the draft; return it. Raises as `save`."""
    plan_set = _lock_current(session, caller, partner_id)
    hidden = next(plan for plan in plan_set.plans if plan.tier is tier)
    plan = replace(hidden, is_visible=True)
    save(session, caller, partner_id, plan)
    return plan


def publish(
    session: Session, caller: Caller, partner_id: UUID, *, expected_version: int | None = None
) -> PlanVersion:
    """Publish the draft: customers see it, months are rated with it, and the contract's ``pricing``
    gets an entry for each visible plan.

    Raises `Forbidden`, `NotFound` (``no_draft``) and `Conflict` (``changed_meanwhile``) if it is
    not the draft that the user has seen.
    """
    plan_set = _lock_current(session, caller, partner_id)
    check_version(expected_version, plan_set.fingerprint, "plans")
    draft = plan_set.draft
    if draft is None:
        raise NotFound(gettext("There is no draft to publish."), "no_draft")
    plans = [
        replace(
            plan,
            price_id=plan.price_id or f"{LOCAL_ID}{plan.tier}",
            product_id=plan.product_id or f"{LOCAL_ID}{plan.tier}",
        )
        if plan.is_visible
        else plan
        for plan in plan_set.plans
    ]
    store(draft, plans)
    draft.published_at, draft.author = utcnow(), caller.label
    set_pricing(session, caller, partner_id, plans)
    session.flush()
    audit.record_change(session, caller, "pricing.published", draft)
    before = {plan.tier: _audit_values(plan) for plan in plan_set.published}
    for plan in plans:
        if before[plan.tier] != _audit_values(plan):
            audit.record_change(
                session,
                caller,
                "pricing.plan_changed",
                draft,
                target=plan.name,
                before=before[plan.tier],
                after=_audit_values(plan),
            )
    return draft


def set_pricing(
    session: Session, caller: Caller, partner_id: UUID, plans: Sequence[EditedPlan]
) -> None:
    """Make the contract's ``pricing`` list the visible plans. Entries keep their ids."""
    partner = partners.get(session, caller, partner_id)
    ids = {entry.tier: str(entry.id) for entry in reversed(partner.pricing)}
    entries = [
        {
            **({"id": ids[plan.tier]} if plan.tier in ids else {}),
            "tier": plan.tier.value,
            "processorPriceId": plan.price_id,
            "processorProductId": plan.product_id,
        }
        for plan in plans
        if plan.is_visible and plan.tier in PRICED
    ]
    changes = read(UpdatePartnerInput, {"pricing": entries})
    partners.update(session, caller, partner_id, changes)


def discard(session: Session, caller: Caller, partner_id: UUID) -> None:
    """Delete the draft; without one nothing happens. Raises `Forbidden`, `NotFound`."""
    draft = _lock_current(session, caller, partner_id).draft
    if draft is not None:
        audit.record_change(session, caller, "pricing.discarded", draft)
        session.delete(draft)
        session.flush()


def roll_back(session: Session, caller: Caller, partner_id: UUID, number: int) -> PlanSet:
    """Create a draft with the plans of an earlier version; publishing it is a second step.

    Raises `Forbidden`, `NotFound`, and `Conflict` (``draft_exists``) if a draft would be lost.
    """
    plan_set = _lock_current(session, caller, partner_id)
    if plan_set.draft is not None:
        message = gettext("There is a draft with changes. Publish or discard it first.")
        raise Conflict(message, "draft_exists")
    plans = plans_of(get(session, caller, partner_id, number))
    return _store_draft(session, caller, partner_id, plan_set, plans, f"Version {number}")


def get(session: Session, caller: Caller, partner_id: UUID, number: int) -> PlanVersion:
    """Return a published version. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.PRICING_READ)
    partners.check(session, caller, partner_id)
    version = session.scalar(published_versions(partner_id).where(PlanVersion.number == number))
    if version is None:
        raise NotFound
    return version


def history(session: Session, caller: Caller, partner_id: UUID) -> list[PlanVersion]:
    """Return the published versions, newest first. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.PRICING_READ)
    partners.check(session, caller, partner_id)
    return list(session.scalars(published_versions(partner_id).order_by(PlanVersion.number.desc())))


def store(version: PlanVersion, plans: Sequence[EditedPlan]) -> None:
    """Write the plans into the version. Their texts have their own column, which the previous
    version of the code doesn't know."""
    version.plans = [plan.to_json() for plan in plans]
    version.texts = {plan.tier.value: plan.texts_to_json() for plan in plans if plan.texts} or None


def _replace_plan(plan_set: PlanSet, plan: EditedPlan) -> list[EditedPlan]:
    return [plan if existing.tier is plan.tier else existing for existing in plan_set.plans]


def _lock_current(session: Session, caller: Caller, partner_id: UUID) -> PlanSet:
    """Return the plans for a change, with the partner locked. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.PARTNER_WRITE)
    partners.get(session, caller, partner_id, for_change=True)
    return _current_plans(session, partner_id)


def _current_plans(session: Session, partner_id: UUID) -> PlanSet:
    query = select(PlanVersion).where(PlanVersion.partner_id == partner_id)
    newest = list(session.scalars(query.order_by(PlanVersion.number.desc()).limit(2)))
    draft = newest.pop(0) if newest and newest[0].published_at is None else None
    last = newest[0] if newest else None
    live = plans_of(last) if last else published(session, partner_id)
    plans = plans_of(draft) if draft else live
    return PlanSet(plans, live, draft, last)


def _store_draft(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    plan_set: PlanSet,
    plans: Sequence[EditedPlan],
    target: str,
) -> PlanSet:
    """Make ``plans`` the draft. One that equals the published plans is deleted."""
    if plans == list(plan_set.plans):
        return plan_set
    draft = plan_set.draft
    if draft is None:
        number = plan_set.last.number + 1 if plan_set.last else 1
        draft = PlanVersion(id=new_id(), partner_id=partner_id, number=number, author="")
        session.add(draft)
    store(draft, plans)
    draft.author = caller.label
    session.flush()
    audit.record_change(session, caller, "pricing.saved", draft, target=target)
    if not differences(plan_set.published, plans):
        session.delete(draft)
        session.flush()
    return _current_plans(session, partner_id)


def _audit_values(plan: EditedPlan) -> dict[str, Any]:
    """Return a plan as customers see it, for the history."""
    terms = plan.terms
    overage = Decimal(terms.overage_micros).scaleb(-6).normalize()
    return {
        "name": plan.name,
        "price": f"{terms.cost} {terms.currency}",
        "interval": terms.interval.value,
        "usageUnit": terms.unit.value if terms.unit else None,
        "included": terms.included,
        "priceBeyond": f"{overage:f} {terms.currency}" if terms.unit else None,
        "trialDays": terms.trial_days,
        "features": list(plan.features),
        "visible": plan.is_visible,
        "textsByLanguage": plan.texts_to_json() or None,
    }


def _refuse_duplicate_id(plan: EditedPlan, plans: Sequence[EditedPlan]) -> None:
    for other in plans:
        if plan.price_id and other.tier is not plan.tier and other.price_id == plan.price_id:
            message = gettext(
                "The plan “%(name)s” has this price ID. Each plan needs its own price.",
                name=other.name,
            )
            raise ValidationFailed.on("priceId", "price_id_taken", message)


def published_versions(partner_id: UUID) -> Select[PlanVersion]:
    return select(PlanVersion).where(
        PlanVersion.partner_id == partner_id, PlanVersion.published_at.is_not(None)
    )
