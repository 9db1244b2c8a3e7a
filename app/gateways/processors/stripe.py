"""Stripe as the payment processor, through its official SDK (the extra ``stripe``)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from app.enums import SubscriptionStatus
from app.gateways.processors.base import (
    CustomerSubscription,
    ListedPrice,
    PriceReference,
    ProcessorRefused,
    ProcessorUnavailable,
)

SECONDS = 10
RETRIES = 1
REPLAY_SECONDS = 300
_WHOLE_UNITS = frozenset(
    [
        "BIF",
        "CLP",
        "DJF",
        "GNF",
        "JPY",
        "KMF",
        "KRW",
        "MGA",
        "PYG",
        "RWF",
        "VND",
        "VUV",
        "XAF",
        "XOF",
        "XPF",
    ]
)
_THOUSANDTHS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])
"""Stripe uses the smallest unit: hundredths except for these (ISK and UGX are sent in hundredths
although they have no decimals)."""

CHARGE = "portal_charge"
"""The metadata key of an invoice item that holds the name of its charge."""
_STATES = {
    "active": SubscriptionStatus.ACTIVE,
    "trialing": SubscriptionStatus.ACTIVE,
    "incomplete": SubscriptionStatus.OVERDUE,
    "past_due": SubscriptionStatus.OVERDUE,
}
"""Stripe's statuses of a lasting subscription; with any other it pays for nothing."""


@dataclass(frozen=True, slots=True)
class PlanForSale:
    """A plan to sell: the content of its product and price. ``price_id`` and ``product_id`` are the
    current ones, or blank; without a product that of the price is used."""

    name: str
    cost: Decimal
    currency: str
    interval: str
    product_id: str = ""
    price_id: str = ""


@dataclass(frozen=True, slots=True)
class InvoiceCharge:
    """An amount in currency units for the next invoice of a subscription; negative for a credit."""

    customer: str
    subscription: str
    amount: Decimal
    currency: str
    description: str


@dataclass(frozen=True, slots=True)
class StripeEvent:
    """A signed report of Stripe. ``reference`` is that of a paid checkout, ``subscription`` the id
    of the subscription that it is about or that the checkout began; each can be blank."""

    type: str
    reference: str
    subscription: str = ""


class StripeProcessor:
    """A Stripe account: that of the key, or the one with the id ``account`` connected to it.

    No connection is made before a method is called. All but `read_event` raise
    `ProcessorUnavailable` if an answer is missing, and those that change something
    `ProcessorRefused`.
    """

    name = "Stripe"
    is_outside = True

    def __init__(self, key: str, api_url: str = "", account: str = ""):
        self._key = key
        self._api_url = api_url
        self._account = account

    def prices(self, references: Iterable[PriceReference]) -> Mapping[str, ListedPrice]:
        """Return the prices on sale by price id. One request per id, at most two tries of ten
        seconds each.

        Raises `ProcessorUnavailable` if an answer is neither a price nor "no such price".
        """
        import stripe

        client = self._client(stripe)
        products: dict[str, str] = {}
        prices_by_id: dict[str, ListedPrice] = {}
        for price_id in dict.fromkeys(reference.price_id for reference in references):
            try:
                price = client.v1.prices.retrieve(price_id)
                product_id = str(price.product)
                if product_id not in products:
                    products[product_id] = client.v1.products.retrieve(product_id).name
            except stripe.InvalidRequestError as error:
                if error.http_status == 404 or error.code == "resource_missing":
                    continue
                raise ProcessorUnavailable(self.name, type(error).__name__) from error
            except stripe.StripeError as error:
                raise ProcessorUnavailable(self.name, type(error).__name__) from error
            if not price.active:
                continue
            currency = price.currency.upper()
            prices_by_id[price_id] = ListedPrice(
                name=price.nickname or products[product_id],
                cost=_to_units(price, currency),
                currency=currency,
                product_id=product_id,
                interval=_interval(price),
            )
        return prices_by_id

    def check(self) -> None:
        """Send a harmless request, to prove that the key works."""
        with self._asking() as client:
            client.v1.products.list({"limit": 1})
            client.v1.prices.list({"limit": 1})

    def sell(self, sale: PlanForSale, key: str) -> tuple[str, str]:
        """Update the product and the price to match the plan; return their ids.

        A price can't be changed: a new one replaces it, and it is archived. So are ids that the
        account doesn't have. The idempotency ``key`` names this change: sent again, it creates
        nothing twice.
        """
        with self._asking() as client:
            price_id = sale.price_id
            price = _response_or_none(lambda: client.v1.prices.retrieve(price_id), price_id)
            product_id = sale.product_id or (str(price.product) if price else "")
            changes = {"name": sale.name, "active": True}
            if not _response_or_none(
                lambda: client.v1.products.update(product_id, changes), product_id
            ):
                options = {"idempotency_key": f"{key}:product"}
                product_id = client.v1.products.create({"name": sale.name}, options).id
            if price and _is_same_price(price, sale, product_id):
                if not price.active:
                    client.v1.prices.update(price_id, {"active": True})
                return product_id, price_id
            params = {
                "product": product_id,
                "currency": sale.currency.lower(),
                "unit_amount": int(sale.cost.scaleb(_decimal_places(sale.currency))),
                "recurring": {"interval": sale.interval},
            }
            options = {"idempotency_key": f"{key}:price"}
            new_id = client.v1.prices.create(params, options).id
            if price:
                _archive(client, price, new_id if str(price.product) == product_id else "")
            return product_id, new_id

    def archive(self, price_id: str) -> None:
        """End the sale of a price, if there is one; existing subscriptions keep it."""
        with self._asking() as client:
            price = _response_or_none(lambda: client.v1.prices.retrieve(price_id), price_id)
            if price:
                _archive(client, price)

    def checkout(self, price_id: str, reference: str, trial_days: int, back_url: str) -> str:
        """Return the URL of a page where a customer subscribes to a price. ``reference`` is
        returned with the report of the payment."""
        params: dict[str, Any] = {
            "mode": "subscription",
            "line_items": [{"price": price_id, "quantity": 1}],
            "client_reference_id": reference,
            "success_url": f"{back_url}?upgraded=1",
            "cancel_url": back_url,
        }
        if trial_days:
            params["subscription_data"] = {"trial_period_days": trial_days}
        with self._asking() as client:
            options = {"idempotency_key": f"checkout:{reference}"}
            return str(client.v1.checkout.sessions.create(params, options).url)

    def customer_page(self, customer: str, back_url: str) -> str:
        """Return the URL of a page where a customer sees its invoices, and changes its means of
        payment and its subscription."""
        params = {"customer": customer, "return_url": back_url}
        with self._asking() as client:
            return str(client.v1.billing_portal.sessions.create(params).url)

    def subscription(self, reference: str) -> CustomerSubscription | None:
        """Return a subscription; None if the account doesn't have it."""
        with self._asking() as client:
            subscription = _response_or_none(
                lambda: client.v1.subscriptions.retrieve(reference), reference
            )
        if subscription is None:
            return None
        prices = [item.price.id for item in subscription["items"].data if item.price]
        return CustomerSubscription(
            status=_STATES.get(subscription.status, SubscriptionStatus.ENDED),
            customer=str(subscription.customer),
            price_id=prices[0] if prices else "",
            ends_at=datetime.fromtimestamp(subscription.cancel_at, UTC)
            if subscription.cancel_at
            else None,
        )

    def end_subscription(self, reference: str) -> None:
        """End a subscription now, if it is active; the unused part of the payment is credited."""
        with self._asking() as client:
            credit = {"prorate": True, "invoice_now": True}
            _response_or_none(lambda: client.v1.subscriptions.cancel(reference, credit), reference)

    def charged(self, customers: Iterable[str], name: str, since: datetime) -> str | None:
        """Return the invoice item with this name of one of the customers since then."""
        filters = {"limit": 100, "created": {"gte": int(since.timestamp())}}
        with self._asking() as client:
            for customer in customers:
                params = {**filters, "customer": customer}
                items = _response_or_none(partial(client.v1.invoice_items.list, params), customer)
                for item in items.auto_paging_iter() if items else ():
                    if getattr(item.metadata, CHARGE, None) == name:
                        return str(item.id)
        return None

    def charge(self, charge: InvoiceCharge, name: str) -> str:
        """Add an amount to the next invoice of a subscription; return the id of the item.

        Sent again with the same name it is added once, as long as Stripe remembers the request: a
        day. Later, `charged` finds it.
        """
        params = {
            "customer": charge.customer,
            "subscription": charge.subscription,
            "currency": charge.currency.lower(),
            "amount": int(charge.amount.scaleb(_decimal_places(charge.currency))),
            "description": charge.description,
            "metadata": {CHARGE: name},
        }
        with self._asking() as client:
            return str(client.v1.invoice_items.create(params, {"idempotency_key": name}).id)

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        import stripe

        try:
            yield self._client(stripe)
        except (stripe.AuthenticationError, stripe.PermissionError) as error:
            message = (
                "Stripe refused the key. Check it, and that it may change products and prices."
            )
            raise ProcessorRefused(message) from error
        except (stripe.InvalidRequestError, stripe.IdempotencyError) as error:
            message = f"Stripe refused a change: {error.user_message or 'no reason given'}"
            raise ProcessorRefused(message) from error
        except stripe.StripeError as error:
            raise ProcessorUnavailable(self.name, type(error).__name__) from error

    def _client(self, stripe: Any) -> Any:
        addresses: dict[str, str] = {}
        if self._api_url:
            parts = urlsplit(self._api_url)
            addresses = {"api": f"{parts.scheme}://{parts.netloc}"}
        return stripe.StripeClient(
            self._key,
            stripe_account=self._account or None,
            base_addresses=addresses,
            http_client=stripe.RequestsClient(timeout=SECONDS),
            max_network_retries=RETRIES,
        )


def is_installed() -> bool:
    """Return whether the extra ``stripe`` is installed, without which no account can be used."""
    return find_spec("stripe") is not None


def read_event(payload: bytes, signature: str, secret: str) -> StripeEvent | None:
    """Return a report that is signed with the secret and at most five minutes old; None for any
    other."""
    import stripe

    try:
        event = stripe.Webhook.construct_event(payload, signature, secret, REPLAY_SECONDS)
    except (stripe.SignatureVerificationError, ValueError):
        return None
    subject = event.data.object
    is_paid = getattr(subject, "payment_status", "unpaid") != "unpaid"
    reference = getattr(subject, "client_reference_id", None) if is_paid else None
    subscription = getattr(subject, "subscription", None) if is_paid else None
    if event.type.startswith("customer.subscription."):
        subscription = subject.id
    return StripeEvent(event.type, reference or "", str(subscription or ""))


def _response_or_none(send: Callable[[], Any], identifier: str) -> Any:
    """Return the response about an object; None if the account has no such object."""
    import stripe

    if not identifier:
        return None
    try:
        return send()
    except stripe.InvalidRequestError as error:
        if error.code == "resource_missing":
            return None
        raise


def _archive(client: Any, price: Any, successor: str = "") -> None:
    """Archive a price. Stripe refuses that for the default price of a product, as which the
    ``successor`` replaces it, or none."""
    product_id = str(price.product)
    if client.v1.products.retrieve(product_id).default_price == price.id:
        client.v1.products.update(product_id, {"default_price": successor})
    client.v1.prices.update(price.id, {"active": False})


def _is_same_price(price: Any, sale: PlanForSale, product_id: str) -> bool:
    currency = price.currency.upper()
    stored = (str(price.product), currency, _to_units(price, currency), _interval(price))
    return stored == (product_id, sale.currency, sale.cost, sale.interval)


def _interval(price: Any) -> str | None:
    """Return the interval of a price that is paid each month or year; None for other prices."""
    recurring = getattr(price, "recurring", None)
    return recurring.interval if recurring and recurring.interval_count == 1 else None


def _decimal_places(currency: str) -> int:
    return 0 if currency in _WHOLE_UNITS else 3 if currency in _THOUSANDTHS else 2


def _to_units(price: Any, currency: str) -> Decimal:
    """Return the amount in currency units. A tiered price has no single amount: zero."""
    amount = getattr(price, "unit_amount_decimal", None) or price.unit_amount or 0
    return Decimal(str(amount)).scaleb(-_decimal_places(currency))
