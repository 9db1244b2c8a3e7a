"""Published plans at the payment processor: what is to be sold, and the processor's answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import BillingInterval, Tier
from app.errors import Conflict, Problem, ValidationFailed, raise_problems
from app.gateways.job_queue import enqueue_check
from app.gateways.processors.base import PriceReference
from app.languages import gettext
from app.models import PlanVersion, ProcessorCheck, ProcessorPrice, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import partners
from app.services.pricing import accounts, refresh, versions
from app.services.pricing.plans import LOCAL_ID, EditedPlan, outside_id
from app.services.pricing.published_plans import known_prices
from app.services.pricing.versions import PlanSet

GIVEN_UP_AFTER = timedelta(seconds=25)
"""Time after which a request is given up: two attempts of ten seconds each."""
Ids = tuple[str, str]
"""The product id and the price id of a plan."""


@dataclass(frozen=True, slots=True)
class PriceState:
    """A plan's price at the processor: what is wrong with it, and when it was last seen there."""

    problem: Problem | None
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class ToSend:
    """The last published version, for the worker; ``archived`` are the price ids to end."""

    version_id: UUID
    plans: Sequence[EditedPlan]
    archived: Sequence[str]


def save(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    plan: EditedPlan,
    *,
    is_outside: bool,
    expected_version: int | None = None,
    asked_at: datetime | None = None,
) -> bool:
    """Write a plan into the draft as `versions.save` does. Return False, with nothing written,
    while the processor is queried for a new price id: save again, with the time of the first query.

    If prices come from an external processor, it must know a new id, and its price must match the
    plan. Raises also `ValidationFailed` (``price_not_checked`` if the processor doesn't answer,
    ``price_unknown``, ``price_differs``).
    """
    plan_set = versions.check_and_lock(
        session, caller, partner_id, plan, expected_version=expected_version
    )
    before = next(
        stored_plan.price_id for stored_plan in plan_set.plans if stored_plan.tier is plan.tier
    )
    is_new = plan.price_id not in ("", before) and not plan.price_id.startswith(LOCAL_ID)
    has_ids = is_outside or accounts.is_connected(session, partner_id)
    if is_new and has_ids and not _is_checked(session, partner_id, plan, asked_at):
        return False
    versions.save(session, caller, partner_id, plan, expected_version=expected_version)
    if is_priced(plan):
        enqueue_price_check(session, partner_id)
    return True


def show(session: Session, caller: Caller, partner_id: UUID, tier: Tier) -> None:
    """Make a hidden plan visible in the draft. Raises as `versions.save`."""
    plan = versions.show(session, caller, partner_id, tier)
    if is_priced(plan):
        enqueue_price_check(session, partner_id)


def _is_checked(
    session: Session, partner_id: UUID, plan: EditedPlan, asked_at: datetime | None
) -> bool:
    """Return whether the processor has answered about the plan's price id lately, and knows it. A
    negative answer counts only once it was queried again. Raises `ValidationFailed`."""
    key = (partner_id, plan.price_id)
    now, answer = utcnow(), session.get(ProcessorCheck, key)
    is_fresh = answer is not None and now - answer.asked_at < refresh.FRESH_FOR
    if answer and is_fresh and (answer.found or asked_at):
        wrong = _find_problem(plan, session.get(ProcessorPrice, key), answer.found)
        if wrong:
            raise ValidationFailed.on("priceId", *wrong)
        return True
    if asked_at is None:
        if answer:
            session.delete(answer)
        arguments = (str(partner_id), plan.price_id, plan.tier.value)
        enqueue_check(session, "check_price", new_id(), partner_id, *arguments)
    elif now - asked_at > GIVEN_UP_AFTER:
        message = gettext(
            "Stripe hasn’t answered yet, so this ID couldn’t be checked and nothing was saved. "
            "Save again in a minute."
        )
        raise ValidationFailed.on("priceId", "price_not_checked", message)
    return False


def publish(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    *,
    is_outside: bool,
    expected_version: int | None = None,
) -> PlanVersion:
    """Publish the draft as `versions.publish` does, and have a connected account sell it.

    If prices come from an external processor, it must know pasted ids, and their prices must match
    the plans. Raises also `ValidationFailed` (``price_not_checked``, ``price_unknown``,
    ``price_differs``), naming the plans.
    """
    caller.require(Permission.PARTNER_WRITE)
    partners.get(session, caller, partner_id, for_change=True)
    is_connected = accounts.is_connected(session, partner_id)
    if is_outside or is_connected:
        plan_set = versions.current(session, caller, partner_id)
        raise_problems(pasted_problems(session, partner_id, plan_set, is_connected=is_connected))
    version = versions.publish(session, caller, partner_id, expected_version=expected_version)
    if is_connected:
        _enqueue_sending(session, version)
    return version


def pasted_problems(
    session: Session, partner_id: UUID, plan_set: PlanSet, *, is_connected: bool
) -> Iterator[Problem]:
    """Return why the price ids of a partner's draft can't be published."""
    before = {plan.tier: plan for plan in plan_set.published}
    for tier, state in states(session, partner_id, plan_set.plans).items():
        problem = state.problem
        plan = next(plan for plan in plan_set.plans if plan.tier is tier)
        is_new = plan.price_id != before[tier].price_id
        # An account replaces the price if the terms change.
        if problem and (is_new or (not is_connected and plan.terms != before[tier].terms)):
            yield problem


def states(
    session: Session, partner_id: UUID, plans: Sequence[EditedPlan]
) -> dict[Tier, PriceState]:
    """Return the states of the partner's plans that have a price at the processor."""
    priced = [plan for plan in plans if is_priced(plan)]
    ids = [plan.price_id for plan in priced]
    prices = known_prices(session, partner_id, ids)
    check_query = select(ProcessorCheck).where(
        ProcessorCheck.partner_id == partner_id, ProcessorCheck.price_id.in_(ids)
    )
    checks = {check.price_id: check.found for check in session.scalars(check_query)}
    price_states: dict[Tier, PriceState] = {}
    for plan in priced:
        price = prices.get(plan.price_id)
        problem = _price_problem(plan, price, checks.get(plan.price_id))
        price_states[plan.tier] = PriceState(problem, price.fetched_at if price else None)
    return price_states


def is_priced(plan: EditedPlan) -> bool:
    """Return whether customers can choose the plan and a payment processor has its price."""
    return plan.is_visible and bool(plan.price_id) and not plan.price_id.startswith(LOCAL_ID)


def enqueue_price_check(session: Session, partner_id: UUID) -> None:
    """Queue a query of the processor for the price ids of the partner's plans."""
    enqueue_check(session, "check_prices", new_id(), partner_id, str(partner_id))


def send_again(session: Session, caller: Caller, partner_id: UUID) -> None:
    """Queue the last published version for the worker again. Raises `Forbidden`, `NotFound`, and
    `Conflict` (``not_connected``) without an account."""
    caller.require(Permission.PARTNER_WRITE)
    plan_set = versions.current(session, caller, partner_id)
    if plan_set.last is None or not accounts.is_connected(session, partner_id):
        message = gettext("Connect your Stripe account and publish your plans first.")
        raise Conflict(message, "not_connected")
    plan_set.last.send_problem = ""
    plan_set.last.sent_at = None
    session.flush()
    _enqueue_sending(session, plan_set.last)


def references(session: Session, partner_id: UUID) -> list[PriceReference]:
    """For the worker: return the price ids of the partner's draft and published plans."""
    caller = system_caller(partner_id=partner_id)
    plan_set = versions.current(session, caller, partner_id)
    plans = [plan for plan in (*plan_set.plans, *plan_set.published) if is_priced(plan)]
    ids = {plan.price_id: plan for plan in plans}
    return [PriceReference(plan.tier, plan.price_id, plan.product_id) for plan in ids.values()]


def to_send(session: Session, partner_id: UUID) -> ToSend | None:
    """For the worker: return what the processor is to sell; None before the first version."""
    plan_set = versions.current(session, system_caller(partner_id=partner_id), partner_id)
    if plan_set.last is None:
        return None
    sold = [
        replace(plan, price_id=outside_id(plan.price_id), product_id=outside_id(plan.product_id))
        for plan in plan_set.published
    ]
    hidden = [plan.price_id for plan in sold if not plan.is_visible and plan.price_id]
    return ToSend(plan_set.last.id, [plan for plan in sold if plan.is_visible], hidden)


def record_ids(session: Session, version_id: UUID, ids: Mapping[Tier, Ids], problem: str) -> None:
    """For the worker: store the processor's ids, in the version, in a draft that had the same ones,
    and in the contract's ``pricing``; or the ``problem``. Those of a version after which another
    one was sent already are left alone."""
    version = session.get_one(PlanVersion, version_id)
    caller = system_caller("Stripe", version.partner_id)
    partners.get(session, caller, version.partner_id, for_change=True)
    plan_set = versions.current(session, caller, version.partner_id)
    last = plan_set.last
    if last and last.id != version_id and (last.sent_at or last.send_problem):
        return
    before = {plan.tier: plan.price_id for plan in plan_set.published}
    for each in filter(None, (plan_set.last, plan_set.draft)):
        plans = [
            replace(plan, product_id=ids[plan.tier][0], price_id=ids[plan.tier][1])
            if plan.tier in ids and plan.price_id in ("", before[plan.tier])
            else plan
            for plan in versions.plans_of(each)
        ]
        versions.store(each, plans)
    version.send_problem = problem
    version.sent_at = None if problem else utcnow()
    session.flush()
    versions.set_pricing(
        session, caller, version.partner_id, versions.live(session, version.partner_id)
    )


def _enqueue_sending(session: Session, version: PlanVersion) -> None:
    enqueue_check(session, "send_plans", new_id(), version.partner_id, str(version.partner_id))


def _price_problem(
    plan: EditedPlan, price: ProcessorPrice | None, exists: bool | None
) -> Problem | None:
    finding = _find_problem(plan, price, exists)
    if finding is None:
        return None
    code, message = finding
    return Problem(f"{plan.tier}.priceId", code, f"{plan.name}: {message}")


def _find_problem(
    plan: EditedPlan, price: ProcessorPrice | None, exists: bool | None
) -> tuple[str, str] | None:
    """Return the code and the message of what is wrong with the plan's price id, if anything."""
    terms = plan.terms
    if exists is None:
        message = gettext("The price ID is being checked. Publish again in a moment.")
        return "price_not_checked", message
    if not exists or price is None:
        message = gettext(
            "Stripe has no price on sale with the ID %(id)s. Open the product in Stripe and copy "
            "the ID of its price.",
            id=plan.price_id,
        )
        return "price_unknown", message
    if (price.cost, price.currency, price.interval) != (
        terms.cost,
        terms.currency,
        terms.interval.value,
    ):
        message = gettext(
            "%(id)s costs %(price)s, the plan %(planned)s.",
            id=plan.price_id,
            price=_price_label(f"{price.cost.normalize():f} {price.currency}", price.interval),
            planned=_price_label(f"{terms.cost:f} {terms.currency}", terms.interval),
        )
        return "price_differs", message
    if plan.product_id and price.product_id not in (None, plan.product_id):
        message = gettext(
            "%(id)s belongs to the product %(product)s.",
            id=plan.price_id,
            product=price.product_id,
        )
        return "price_differs", message
    return None


def _price_label(amount: str, interval: str | None) -> str:
    match interval:
        case BillingInterval.MONTH:
            return gettext("%(amount)s each month", amount=amount)
        case BillingInterval.YEAR:
            return gettext("%(amount)s each year", amount=amount)
        case _:
            return gettext("%(amount)s once", amount=amount)
