"""The forms of a plan and of the Stripe account."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from flask import request
from wtforms import (
    BooleanField,
    Field,
    FieldList,
    Form,
    FormField,
    PasswordField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
    ValidationError,
)

from app.enums import BillingInterval, UsageUnit
from app.errors import DomainError
from app.gateways.processors.currencies import OFFERED, decimals
from app.languages import LANGUAGES, gettext, lazy_gettext, ngettext
from app.languages.numbers import without_separators
from app.models import ProcessorAccount
from app.portal.spending.forms import AmountField, UnitPriceField, format_amount
from app.portal.web.editing import EditDifference, SeenMarks, differences_of
from app.portal.web.fields import VersionField, WholeNumber
from app.portal.web.forms import PortalForm
from app.services.pricing import EditedPlan, PlanTerms, PlanText
from app.services.pricing.accounts import AccountKeys
from app.services.pricing.plans import MAX_AMOUNT, MAX_ID_LENGTH, MAX_NAME_LENGTH, check, outside_id

_KEY_ATTRIBUTES = {"maxlength": 260, "autocomplete": "off", "spellcheck": "false"}

NOT_COUNTED = "none"
_AMOUNT_ATTRIBUTES = {"inputmode": "decimal", "autocomplete": "off"}
_ID_ATTRIBUTES = {"maxlength": MAX_ID_LENGTH, "spellcheck": "false", "autocomplete": "off"}


class PlanTextsRow(Form):
    """The texts of a plan in one language."""

    name = StringField(lazy_gettext("Name"), render_kw={"maxlength": MAX_NAME_LENGTH})
    features = TextAreaField(lazy_gettext("Features"))


class PricingPlanForm(PortalForm):
    """The fields in the order of the page, in which their problems are listed."""

    version = VersionField()
    amount = AmountField(lazy_gettext("Price"), render_kw=_AMOUNT_ATTRIBUTES)
    currency = SelectField(
        lazy_gettext("Currency"), choices=[SelectChoice(code, code) for code in OFFERED]
    )
    interval = RadioField(
        lazy_gettext("Paid"),
        choices=[
            SelectChoice(BillingInterval.MONTH, lazy_gettext("Each month")),
            SelectChoice(BillingInterval.YEAR, lazy_gettext("Each year")),
        ],
    )
    trial_days = WholeNumber(lazy_gettext("Free trial days"))
    unit = RadioField(
        lazy_gettext("Beyond the price, calls are charged"),
        choices=[
            SelectChoice(NOT_COUNTED, lazy_gettext("Not at all")),
            SelectChoice(UsageUnit.MINUTE, lazy_gettext("By the minute")),
            SelectChoice(UsageUnit.CALL, lazy_gettext("By the call")),
        ],
    )
    included = WholeNumber(lazy_gettext("Included each month"))
    overage = UnitPriceField(lazy_gettext("Price beyond that"), render_kw=_AMOUNT_ATTRIBUTES)
    name = StringField(lazy_gettext("Name"), render_kw={"maxlength": MAX_NAME_LENGTH})
    features = TextAreaField(lazy_gettext("Features"))
    texts = FieldList(
        FormField(PlanTextsRow), min_entries=len(LANGUAGES), max_entries=len(LANGUAGES)
    )
    is_visible = BooleanField(lazy_gettext("Show this plan to customers"))
    price_id = StringField(lazy_gettext("Price ID"), render_kw=_ID_ATTRIBUTES)
    product_id = StringField(lazy_gettext("Product ID"), render_kw=_ID_ATTRIBUTES)

    @classmethod
    def showing(cls, plan: EditedPlan, version: int) -> "PricingPlanForm":
        terms = plan.terms
        texts = {text.language: text for text in plan.texts}
        return cls.from_object(
            version=version,
            name=plan.name,
            amount=without_separators(f"{terms.cost}"),
            currency=terms.currency,
            interval=terms.interval,
            unit=terms.unit or NOT_COUNTED,
            included=terms.included or None,
            overage=format_amount(terms.overage_micros or None),
            trial_days=terms.trial_days or None,
            features="\n".join(plan.features),
            texts=[
                {"name": text.name, "features": "\n".join(text.features)}
                for text in (texts.get(code, PlanText(code)) for code in LANGUAGES)
            ],
            is_visible=plan.is_visible,
            price_id=outside_id(plan.price_id),
            product_id=outside_id(plan.product_id),
        )

    def to_plan(self, stored: EditedPlan, *, has_ids: bool) -> EditedPlan:
        """Return ``stored`` with the input. Without ``has_ids`` its ids stay.

        Usage that isn't charged has no amounts.
        """
        unit = UsageUnit(self.unit.data) if self.unit.data in list(UsageUnit) else None
        terms = PlanTerms(
            self._minor_units(),
            self.currency.data,
            BillingInterval(self.interval.data),
            unit,
            (self.included.data or 0) if unit else 0,
            (self.overage.micros or 0) if unit else 0,
            self.trial_days.data or 0,
        )
        texts = (
            PlanText(code, (row.name.data or "").strip(), _split_lines(row.features))
            for code, row in self.text_rows
        )
        return replace(
            stored,
            name=(self.name.data or "").strip(),
            terms=terms,
            features=_split_lines(self.features),
            texts=tuple(text for text in texts if text.name or text.features),
            is_visible=bool(self.is_visible.data),
            price_id=(self.price_id.data or "").strip() if has_ids else stored.price_id,
            product_id=(self.product_id.data or "").strip() if has_ids else stored.product_id,
        )

    @property
    def asked_at(self) -> datetime | None:
        """Return when the processor was first queried for the entered price id; None if it
        wasn't."""
        if request.form.get("asked_id") != (self.price_id.data or "").strip():
            return None
        try:
            return datetime.fromtimestamp(int(request.form["asked_at"]), UTC)
        except (LookupError, ValueError, OverflowError, OSError):
            return None

    def selected_currency(self) -> str | None:
        return self.currency.data if self.currency.data in OFFERED else None

    @property
    def text_rows(self) -> Iterator[tuple[str, PlanTextsRow]]:
        """Return the texts by the code of their language."""
        yield from zip(LANGUAGES, (entry.form for entry in self.texts), strict=True)

    def apply_errors(self, error: DomainError) -> None:
        super().apply_errors(error)
        self.texts.errors = ()  # each is at a field of a row
        rows, problems = dict(self.text_rows), []
        for problem in error.problems:
            _texts, _, path = problem.field.partition(".")
            code, _, name = path.partition(".")
            if code in rows:
                field = rows[code][name]
                field.errors = (*field.errors, problem.message)
                label = f"{LANGUAGES[code]}: {field.label.text}"
                problems.append((field.id, f"{label}: {problem.message}"))
        self.problems = [*self.problems, *problems]

    def differences(self, stored: Self, seen: SeenMarks) -> list[EditDifference]:
        stored_fields = {field.name: field for field in stored}
        del stored_fields["texts"]
        rows = zip(self.text_rows, stored.text_rows, strict=True)
        return differences_of(self, stored_fields, seen) + [
            replace(difference, label=f"{LANGUAGES[code]}: {difference.label}")
            for (code, row), (_code, stored_row) in rows
            for difference in differences_of(row, {field.name: field for field in stored_row}, seen)
        ]

    def validate(self, extra_validators: Any = None) -> bool:
        """Validate also that the currency has the decimals of the price."""
        is_valid = bool(super().validate(extra_validators))
        is_too_exact = self.amount.is_too_exact
        if self.currency.errors or (self.amount.errors and not is_too_exact):
            return is_valid
        places = decimals(self.currency.data)
        if is_too_exact or (self.amount.micros or 0) % 10 ** (6 - places):
            self.amount.errors = (self._wrong_decimals(places),)
            return False
        return is_valid

    def validate_amount(self, field: AmountField) -> None:
        if not field.text:
            raise ValidationError(gettext("Enter a price, 0 if the plan is free."))

    def check_readable(self, stored: EditedPlan, *, has_ids: bool) -> None:
        """Check the rest of a form with unreadable values. Raises `ValidationFailed`."""
        if not (self.currency.errors or self.interval.errors):
            check(self.to_plan(stored, has_ids=has_ids))

    def _wrong_decimals(self, places: int) -> str:
        currency = self.currency.data
        if not places:
            return gettext("Amounts in %(currency)s have no decimals.", currency=currency)
        return ngettext(
            "Amounts in %(currency)s have at most %(num)s decimal.",
            "Amounts in %(currency)s have at most %(num)s decimals.",
            places,
            currency=currency,
        )

    def _minor_units(self) -> int:
        places = decimals(self.currency.data)
        return min(int((self.amount.micros or 0) // 10 ** (6 - places)), MAX_AMOUNT + 1)


def _split_lines(field: Field) -> tuple[str, ...]:
    lines = (field.data or "").replace("\0", "").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


class ProcessorAccountForm(PortalForm):
    version = VersionField()
    secret = PasswordField(lazy_gettext("Secret key"), render_kw=_KEY_ATTRIBUTES)
    account_id = StringField(lazy_gettext("Account ID"), render_kw=_KEY_ATTRIBUTES)
    webhook_secret = PasswordField(
        lazy_gettext("Webhook signing secret"), render_kw=_KEY_ATTRIBUTES
    )

    @classmethod
    def showing(cls, account: ProcessorAccount | None) -> "ProcessorAccountForm":
        return cls.from_object(
            account_id=account.account_id if account else "",
            version=account.version if account else 0,
        )

    def to_keys(self) -> AccountKeys:
        return AccountKeys(
            (self.secret.data or "").strip(),
            (self.account_id.data or "").strip(),
            (self.webhook_secret.data or "").strip(),
        )
