"""Portal settings: the partner's fields that are not part of the brand."""

from functools import partial
from typing import Any

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session

from app.errors import ValidationFailed, check_all
from app.extensions import caller, settings, transaction
from app.languages import gettext, lazy_gettext
from app.models import Partner
from app.portal.settings import blueprint
from app.portal.settings.forms import PAYMENT_TEXTS, PortalSettingsForm
from app.portal.web.blueprint import Page
from app.portal.web.current_user import sign_in_url
from app.portal.web.forms import saving
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import domains, partners
from app.services.billing_address import BillingAddress

SECTIONS = (
    ("company", lazy_gettext("Your company")),
    ("addresses", lazy_gettext("Addresses")),
    ("email", lazy_gettext("Email addresses")),
    ("billing", lazy_gettext("Billing")),
    ("new-customers", lazy_gettext("New customers")),
    ("links", lazy_gettext("Links")),
)
"""The parts of the page: their ids and names."""


@blueprint.get("/settings")
def edit_settings() -> Page:
    with transaction(read_only=True) as session:
        return _page(_stored(session))


@blueprint.post("/settings")
def save_settings() -> Page:
    form = PortalSettingsForm()
    target = ("partner", partners.own_partner_id(caller()))
    with saving(
        form, lambda: _page(form), stored=_stored, target=target, validate=False
    ) as session:
        _save(session, form)
    return redirect(url_for("portal.settings.edit_settings", saved=1), 303)


def _save(session: Session, form: PortalSettingsForm) -> None:
    """Save the form. Raises `ValidationFailed` with every problem, and `Conflict`."""
    partner = partners.get_own(session, caller())
    terms = form.payment_instructions.data or "", form.payment_days.data or ""
    texts = {code: field.data or "" for code, field in form.payment_texts.items()}
    own = session, caller(), partner.id
    check_all(
        partial(_save_contract_fields, session, partner, form),
        partial(partners.choose_language, *own, form.language.data or None),
        partial(partners.set_billing_address, *own, *form.submitted_address),
        partial(partners.set_payment_terms, *own, *terms, texts),
        partial(_save_sender, session, partner, form),
    )


def _save_contract_fields(session: Session, partner: Partner, form: PortalSettingsForm) -> None:
    """Save the fields that the contract has. Raises `ValidationFailed`, also for a change of a
    verified domain that isn't confirmed, and `Conflict`."""
    changes = read(UpdatePartnerInput, form.to_changes(_resource_of(partner)))
    version, was_verified = form.version.data, partner.domain_verified_at is not None
    partners.update(session, caller(), partner.id, changes, expected_version=version)
    if was_verified and partner.domain_verified_at is None and not form.confirm_domain.data:
        message = gettext(
            "Your customers use the current domain. Confirm that you want to change it."
        )
        raise ValidationFailed.on("confirmDomain", "confirm_domain", message)


def _save_sender(session: Session, partner: Partner, form: PortalSettingsForm) -> None:
    if settings().mail_spf_include:
        sender = (form.sender_email.data or "").strip() or None
        domains.choose_sender(session, caller(), partner.id, sender, settings().secret_keys)


def _stored(session: Session) -> PortalSettingsForm:
    partner = partners.get_own(session, caller())
    address = BillingAddress.of(partner.billing_address)
    texts = partner.payment_texts or {}
    return PortalSettingsForm.showing(
        _resource_of(partner),
        partner.version,
        language=partner.language,
        sender_email=partner.sender_email,
        billing_address=address.text,
        tax_id=address.tax_id,
        payment_instructions=partner.payment_instructions,
        **{name: texts.get(code) for code, name in PAYMENT_TEXTS.items()},
        payment_days=None if partner.payment_days is None else str(partner.payment_days),
    )


def _resource_of(partner: Partner) -> dict[str, Any]:
    """Return the partner in the contract's names, without the lists, which the form doesn't
    have."""
    resource = partners.to_resource(partner, caller(), with_lists=False)
    return resource.model_dump(mode="json", by_alias=True)


def _page(form: PortalSettingsForm) -> str:
    with transaction(read_only=True) as session:
        partner = partners.get_own(session, caller())
        return render_template(
            "portal/settings/page.html",
            form=form,
            sections=SECTIONS,
            partner=partner,
            domains=domains.domains_of(session, caller(), partner.id),
            has_sender=bool(settings().mail_spf_include),
            neutral_url=settings().public_url.rstrip("/") + sign_in_url(partner.slug),
        )
