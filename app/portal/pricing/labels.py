"""The words of plans: prices, what they include, and the fields that changed."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from app.enums import BillingInterval, SubscriptionStatus, Tier, UsageUnit
from app.extensions import settings
from app.languages import LANGUAGES, gettext, lazy_gettext, ngettext, pgettext
from app.models import PlanVersion, Subscription
from app.portal.web.blueprint import portal
from app.portal.web.formats import day, long_datetime, number
from app.services.money_format import exact_micros, money
from app.services.pricing import EditedPlan, PlanChange, PlanTerms, differences

INTERVAL_LABELS = {
    BillingInterval.MONTH: lazy_gettext("a month"),
    BillingInterval.YEAR: lazy_gettext("a year"),
}
CHOICE_LABELS: dict[Any, str] = {
    **INTERVAL_LABELS,
    UsageUnit.MINUTE: lazy_gettext("Minutes"),
    UsageUnit.CALL: lazy_gettext("Calls"),
    None: lazy_gettext("Not charged"),
    True: lazy_gettext("Yes"),
    False: lazy_gettext("No"),
}
FIELD_LABELS = {
    "name": lazy_gettext("Name"),
    "amount": lazy_gettext("Price"),
    "currency": lazy_gettext("Currency"),
    "interval": lazy_gettext("Paid"),
    "unit": lazy_gettext("Usage is counted in"),
    "included": lazy_gettext("Included each month"),
    "overage_micros": lazy_gettext("Price beyond that"),
    "trial_days": lazy_gettext("Free trial days"),
    "features": lazy_gettext("Features"),
    "texts": lazy_gettext("In other languages"),
    "is_visible": lazy_gettext("Visible to customers"),
    "price_id": lazy_gettext("Price ID"),
    "product_id": lazy_gettext("Product ID"),
    "order": lazy_gettext("Place"),
}


PROCESSOR_MESSAGES = {
    str(words): words
    for words in (
        lazy_gettext("Stripe accepts the key."),
        lazy_gettext(
            "Stripe refused the key. Check it, and that it may change products and prices."
        ),
        lazy_gettext("The stored key can’t be read. Enter it again."),
        lazy_gettext("Stripe could not be reached. Try again in some minutes."),
        lazy_gettext("The subscription has ended. Send the customer an invoice for this amount."),
    )
}
"""The worker's stored messages about the payment processor, by their English words."""


@portal.app_template_filter("processor_message")
def processor_message(stored: str) -> str:
    """Return the stored message in the user's language; a message of the processor itself
    unchanged."""
    return str(PROCESSOR_MESSAGES.get(stored, stored))


@portal.app_template_filter("subscription_label")
def subscription_label(subscription: Subscription, zone: str = "UTC") -> str:
    """Return whether a subscription at Stripe is paid, or when it ends."""
    if subscription.status is SubscriptionStatus.OVERDUE:
        return gettext("Payment overdue at Stripe")
    if subscription.ends_at is not None:
        return gettext("Ends on %(day)s at Stripe", day=day(subscription.ends_at, zone))
    return gettext("Active at Stripe")


@portal.app_template_filter("plan_price")
def plan_price(terms: PlanTerms) -> str:
    """Return $29 or $29.50."""
    return money(terms.cost, terms.currency, 0 if terms.cost == int(terms.cost) else None)


@portal.app_template_filter("plan_interval")
def plan_interval(terms: PlanTerms) -> str:
    return str(INTERVAL_LABELS[terms.interval])


@portal.app_template_filter("plan_usage")
def plan_usage(terms: PlanTerms) -> str:
    """Return a sentence: 300 minutes a month included, then $0.12 a minute."""
    if terms.unit is None:
        return ""
    beyond = plan_overage(terms)
    if not terms.included:
        return beyond
    if terms.unit is UsageUnit.MINUTE and beyond:
        return ngettext(
            "%(num)s minute a month included, then %(price)s",
            "%(num)s minutes a month included, then %(price)s",
            terms.included,
            price=beyond,
        )
    if terms.unit is UsageUnit.MINUTE:
        return ngettext(
            "%(num)s minute a month included", "%(num)s minutes a month included", terms.included
        )
    if beyond:
        return ngettext(
            "%(num)s call a month included, then %(price)s",
            "%(num)s calls a month included, then %(price)s",
            terms.included,
            price=beyond,
        )
    return ngettext(
        "%(num)s call a month included", "%(num)s calls a month included", terms.included
    )


@portal.app_template_filter("plan_included")
def plan_included(terms: PlanTerms) -> str:
    """Return "300 minutes", or all calls if the plan doesn't count them."""
    if terms.unit is None:
        return gettext("All calls")
    if not terms.included:
        return gettext("None")
    if terms.unit is UsageUnit.MINUTE:
        return ngettext("%(num)s minute", "%(num)s minutes", terms.included)
    return ngettext("%(num)s call", "%(num)s calls", terms.included)


@portal.app_template_filter("upgrade_url")
def upgrade_url(purchase_link: str, tier: Tier) -> str:
    """Return the partner's upgrade page with the plan that the customer chose."""
    link = urlsplit(purchase_link)
    query = [*parse_qsl(link.query, keep_blank_values=True), ("plan", tier.value)]
    return urlunsplit(link._replace(query=urlencode(query)))


@portal.app_template_filter("mail_about")
def mail_about(address: str, subject: str) -> str:
    """Return a link that starts an email."""
    return f"mailto:{address}?subject={quote(subject)}"


@portal.app_template_filter("plan_overage")
def plan_overage(terms: PlanTerms) -> str:
    """Return "$0.12 a minute"; empty if further usage costs nothing."""
    if not terms.unit or not terms.overage_micros:
        return ""
    price = exact_micros(terms.overage_micros, terms.currency)
    if terms.unit is UsageUnit.MINUTE:
        return gettext("%(price)s a minute", price=price)
    return gettext("%(price)s a call", price=price)


@portal.app_template_filter("calls_at_once")
def calls_at_once(limit: int | None) -> int:
    """Return how many calls at once an organization on a plan can make. Without a lower one, the
    installation's limit applies."""
    portal_limit = settings().calls_per_organization
    return portal_limit if limit is None else min(limit, portal_limit)


def calls_at_once_label(limit: int | None) -> str:
    """As `calls_at_once`, in words that name the installation's limit."""
    calls = calls_at_once(limit)
    if calls == settings().calls_per_organization:
        return gettext("%(num)s (portal’s limit)", num=number(calls))
    return number(calls)


@portal.app_template_filter("calls_a_day_label")
def calls_a_day_label(limit: int | None) -> str:
    return gettext("No limit") if limit is None else number(limit)


def published_message(version: PlanVersion | None, zone: str) -> str:
    """Return which version customers see, or that none is published yet."""
    if version is None:
        return gettext("Nothing is published yet. Edit a plan, then publish it.")
    return gettext(
        "Customers see version %(number)s, published by %(author)s on %(time)s.",
        number=version.number,
        author=version.author,
        time=long_datetime(version.published_at, zone),
    )


def draft_message(organizations: int) -> str:
    """Return where changes of a plan are saved, and how many organizations are on it."""
    saved = gettext("Changes are saved in the draft. Customers see them once you publish.")
    on_plan = ngettext(
        "%(num)s organization is on this plan.",
        "%(num)s organizations are on this plan.",
        organizations,
    )
    return f"{saved} {on_plan}"


def cards_message(draft: PlanVersion | None) -> str:
    """Return what the preview of the cards shows: those of the draft, if there is one."""
    if draft:
        cards = gettext(
            "The draft of version %(number)s: customers see these cards once you publish it.",
            number=draft.number,
        )
    else:
        cards = gettext("The cards that customers see now.")
    above = gettext("Customers see their usage and invoices above them.")
    return f"{cards} {above}"


def affected_label(
    plans: Sequence[EditedPlan], changed: Container[Tier], counts: Mapping[Tier, int]
) -> list[str]:
    """Return how many organizations are on each changed plan, without plans that have none."""
    return [
        ngettext(
            "%(num)s organization is on %(plan)s.",
            "%(num)s organizations are on %(plan)s.",
            counts[plan.tier],
            plan=plan.localized().name,
        )
        for plan in plans
        if plan.tier in changed and counts[plan.tier]
    ]


def assistants_label(used: int, limit: int | None) -> str:
    """Return the use of the limit of assistants; nothing without one."""
    if not limit:
        return ""
    return ngettext(
        "%(used)s of %(num)s assistant", "%(used)s of %(num)s assistants", limit, used=number(used)
    )


def users_label(used: int, limit: int | None) -> str:
    """Return the use of the limit of users; nothing without one."""
    if not limit:
        return ""
    return ngettext(
        "%(used)s of %(num)s user", "%(used)s of %(num)s users", limit, used=number(used)
    )


def change_rows(
    old: Sequence[EditedPlan], new: Sequence[EditedPlan]
) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return the changes by the user's new names of their plans: each with its label, and both
    values in words."""
    return [
        (
            after.localized().name,
            [_change_row(change, before.terms, after.terms) for change in plan_changes],
        )
        for before, after, plan_changes in _changed_plans(old, new)
    ]


def kept_texts(
    old: Sequence[EditedPlan], new: Sequence[EditedPlan]
) -> list[tuple[EditedPlan, str]]:
    """Return the plans whose name or features change, with the languages in which they stay."""
    before = {plan.tier: plan for plan in old}
    unchanged = []
    for plan in new:
        plan_before = before[plan.tier]
        texts = {text.language: text for text in plan_before.texts}
        languages = [
            LANGUAGES[text.language]
            for text in plan.texts
            if (previous := texts.get(text.language))
            and (
                (plan.name != plan_before.name and text.name and text.name == previous.name)
                or (
                    plan.features != plan_before.features
                    and text.features
                    and text.features == previous.features
                )
            )
        ]
        if languages:
            unchanged.append((plan.localized(), ", ".join(languages)))
    return unchanged


def plan_changes(
    old: Sequence[EditedPlan], new: Sequence[EditedPlan]
) -> list[tuple[str, list[str]]]:
    """Return the differences, by the user's new names of the plans: Plus, ["Price: $99.00 →
    $109.00", "Feature added: “Fast help”"]."""
    return [
        (
            after.localized().name,
            [
                line
                for change in plan_changes
                for line in _describe_change(change, before.terms, after.terms)
            ],
        )
        for before, after, plan_changes in _changed_plans(old, new)
    ]


def _changed_plans(
    old: Sequence[EditedPlan], new: Sequence[EditedPlan]
) -> Iterator[tuple[EditedPlan, EditedPlan, list[PlanChange]]]:
    """Yield each changed plan before and after, with its changes."""
    changes = differences(old, new)
    before = {plan.tier: plan for plan in old}
    for plan in new:
        if plan_changes := [each for each in changes if each.tier is plan.tier]:
            yield before[plan.tier], plan, plan_changes


def _change_row(change: PlanChange, old: PlanTerms, new: PlanTerms) -> tuple[str, str, str]:
    was, becomes = change.old, change.new
    if change.name == "texts":  # only of changed languages
        was = [text for text in change.old if text not in change.new]
        becomes = [text for text in change.new if text not in change.old]
    return (
        str(FIELD_LABELS[change.name]),
        _format_value(change.name, was, old),
        _format_value(change.name, becomes, new),
    )


def _describe_change(change: PlanChange, old: PlanTerms, new: PlanTerms) -> Iterator[str]:
    if change.name == "features":
        added = [feature for feature in change.new if feature not in change.old]
        removed = [feature for feature in change.old if feature not in change.new]
        if added:
            yield ngettext(
                "Feature added: %(names)s",
                "Features added: %(names)s",
                len(added),
                names=_quote_names(added),
            )
        if removed:
            yield ngettext(
                "Feature removed: %(names)s",
                "Features removed: %(names)s",
                len(removed),
                names=_quote_names(removed),
            )
        if not added and not removed:
            yield gettext("Features in another order")
    elif change.name == "is_visible":
        yield gettext("Shown to customers") if change.new else gettext("Hidden from customers")
    elif change.name == "order":
        yield gettext("Moved from place %(old)s to %(new)s", old=change.old, new=change.new)
    elif change.name == "texts":
        yield gettext("Texts in other languages changed")
    else:
        old_value = _format_value(change.name, change.old, old)
        new_value = _format_value(change.name, change.new, new)
        yield f"{FIELD_LABELS[change.name]}: {old_value} → {new_value}"


def _quote_names(names: Sequence[str]) -> str:
    return ", ".join(gettext("“%(name)s”", name=name) for name in names)


def _format_value(name: str, value: Any, terms: PlanTerms) -> str:
    if name == "amount":
        formatted = money(terms.cost, terms.currency)
    elif name == "overage_micros":
        formatted = plan_overage(terms) or pgettext("price", "Nothing")
    elif name == "included":
        formatted = plan_included(terms)
    elif name in ("interval", "unit", "is_visible"):
        formatted = str(CHOICE_LABELS[value])
    elif name in ("trial_days", "order"):
        formatted = number(value)
    elif name == "texts":
        formatted = "\n".join(
            f"{LANGUAGES[text.language]}: {' · '.join(filter(None, (text.name, *text.features)))}"
            for text in value
        )
    else:
        formatted = value if isinstance(value, str) else "\n".join(value)
    return formatted or "–"
