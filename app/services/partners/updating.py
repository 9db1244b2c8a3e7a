"""Create partners and merge changes into them."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.enums import DomainPurpose
from app.errors import Forbidden, Problem, ValidationFailed, raise_problems, unknown_language
from app.languages import gettext
from app.models import Partner, new_id, utcnow
from app.models.folding import hyphenated
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.base import wire_name
from app.schemas.parsing import read
from app.schemas.partners import BrandedPartner, CreatePartnerInput, UpdatePartnerInput
from app.services import audit
from app.services.billing_address import BillingAddress, validate_address
from app.services.partners import domains
from app.services.partners.loading import domain_key, get, lock_partner
from app.services.partners.outside_pictures import track
from app.services.partners.resource import COLUMNS, EDITOR_FIELDS, LISTS, to_resource
from app.services.payment_terms import PaymentTerms, validate_terms

MAX_SLUG_LENGTH = 60


def create(session: Session, caller: Caller, data: CreatePartnerInput) -> Partner:
    """Create a partner with the defaults of the contract.

    Raises `Forbidden`, or `ValidationFailed` (``unknown_id``, ``duplicate_id``) if an entry of a
    list has an id: it gets its own.
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = Partner(id=new_id(), empty_lists=[])
    values = {name: getattr(data, name) for name in type(data).model_fields}
    _refuse_unknown_ids(partner, values)
    _set_values(partner, values)
    _add_under_free_slug(session, partner)
    track(session, partner)
    domains.track(session, partner, DomainPurpose.PORTAL, partner.domain_key)
    audit.record_change(
        session, caller, "partner.created", partner, after=_audit_values(partner, caller, values)
    )
    return partner


def update(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    changes: UpdatePartnerInput,
    *,
    expected_version: int | None = None,
) -> Partner:
    """Merge the sent fields: absent keeps, null clears, a list replaces the whole list and keeps
    the ids that were sent. A field with the value that the caller sees isn't a change.

    Raises `Forbidden` (``field_not_allowed``) naming every field that the role may not write,
    `ValidationFailed` (``unknown_id``, ``duplicate_id``) and `Conflict` (``changed_meanwhile``);
    nothing is saved then.
    """
    caller.require(Permission.BRANDING_WRITE)
    partner = lock_partner(session, caller, partner_id, expected_version)
    current = to_resource(partner, caller, BrandedPartner)
    changed = {
        name: value for name, value in changes.sent().items() if getattr(current, name) != value
    }
    if not caller.may(Permission.PARTNER_WRITE):
        _refuse_fields(sorted(changed.keys() - EDITOR_FIELDS))
    _refuse_unknown_ids(partner, changed)
    if not changed:
        return partner
    before = _audit_values(partner, caller, changed)
    was_verified = partner.domain_key if partner.domain_verified_at else None
    _set_values(partner, changed)
    track(session, partner)
    if "domain" in changed:
        domains.track(session, partner, DomainPurpose.PORTAL, partner.domain_key)
        if partner.domain_verified_at is None:
            domains.end_sessions(session, was_verified)
    record_update(session, caller, partner, before, _audit_values(partner, caller, changed))
    return partner


def record_update(
    session: Session,
    caller: Caller,
    partner: Partner,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    """Store a change of the partner as its next version, and in the audit log."""
    partner.updated_at = utcnow()
    audit.record_version(session, caller, "partner.updated", partner, before=before, after=after)


def choose_language(
    session: Session, caller: Caller, partner_id: UUID, language: str | None
) -> Partner:
    """Set the language of users who have chosen none; None is that of their browser.

    Raises `ValidationFailed` (``unknown_language``).
    """
    caller.require(Permission.PARTNER_WRITE)
    partner = get(session, caller, partner_id, for_change=True)
    raise_problems(unknown_language(language))
    if partner.language != language:
        before, partner.language = {"language": partner.language}, language
        record_update(session, caller, partner, before, {"language": language})
    return partner


def set_billing_address(
    session: Session, caller: Caller, partner_id: UUID, text: str, tax_id: str
) -> None:
    """Set the seller's address on statements that aren't closed yet. Raises as
    `validate_address`."""
    caller.require(Permission.PARTNER_WRITE)
    partner = get(session, caller, partner_id, for_change=True)
    before, after = BillingAddress.of(partner.billing_address), validate_address(text, tax_id)
    if before != after:
        partner.billing_address = after.to_json()
        record_update(session, caller, partner, before.for_history(), after.for_history())


def set_payment_terms(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    instructions: str,
    days: str,
    texts: Mapping[str, str],
) -> None:
    """Set how customers pay statements that aren't closed yet. Raises as `validate_terms`."""
    caller.require(Permission.PARTNER_WRITE)
    partner = get(session, caller, partner_id, for_change=True)
    before, after = PaymentTerms.of(partner), validate_terms(instructions, days, texts)
    if before != after:
        partner.payment_instructions = after.instructions or None
        partner.payment_texts = {**after.texts} or None
        partner.payment_days = after.days
        record_update(session, caller, partner, before.for_history(), after.for_history())


def create_by_operator(session: Session, caller: Caller, data: CreatePartnerInput) -> Partner:
    """As `create`, with a domain that can be verified. Raises as `domains.refuse_unusable` too."""
    domains.refuse_unusable(session, data.domain)
    return create(session, caller, data)


def change_domain(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    domain: str | None,
    *,
    expected_version: int | None = None,
) -> Partner:
    """Set a domain of the partner that can be verified; None removes it.

    Raises `Conflict` (``changed_meanwhile``), and as `domains.refuse_unusable`.
    """
    caller.require(Permission.PARTNER_CREATE)
    changes = read(UpdatePartnerInput, {"domain": domain})
    domains.refuse_unusable(session, changes.domain, partner_id)
    return update(session, caller, partner_id, changes, expected_version=expected_version)


def verify_domain(session: Session, caller: Caller, partner_id: UUID) -> Partner:
    """Put the partner's domain into effect without proof by DNS; its records may be missing
    afterwards.

    Raises as `domains.verify`.
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    domains.verify(session, caller, partner)
    return partner


def _set_values(partner: Partner, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if name in LISTS:
            _replace_list(partner, name, value)
        else:
            setattr(partner, COLUMNS.get(name, name), value)
    if "domain" in values:
        key = domain_key(partner.domain) if partner.domain is not None else None
        if key != partner.domain_key:
            partner.domain_verified_at = None
        partner.domain_key = key


def _replace_list(partner: Partner, name: str, entries: Sequence[Any] | None) -> None:
    relationship, model, fields = LISTS[name]
    existing = {item.id: item for item in getattr(partner, relationship)}
    items: list[Any] = []
    for position, entry in enumerate(entries or ()):
        item: Any = existing.get(entry.id) or model(id=entry.id or new_id())
        for field in fields:
            setattr(item, field, getattr(entry, field))
        item.position = position
        items.append(item)
    setattr(partner, relationship, items)
    other_names = [list_name for list_name in partner.empty_lists if list_name != name]
    partner.empty_lists = (
        [*other_names, name] if entries is not None and not entries else other_names
    )


def _refuse_fields(names: Sequence[str]) -> None:
    if not names:
        return
    problems = [
        Problem(wire_name(name), "field_not_allowed", gettext("Your role can't change this field."))
        for name in names
    ]
    field_names = ", ".join(problem.field for problem in problems)
    message = gettext("Your role may not change %(fields)s. Nothing was saved.", fields=field_names)
    raise Forbidden(message, "field_not_allowed", problems)


def _ids_and_duplicates(
    name: str, entries: Sequence[Any] | None
) -> tuple[list[Problem], dict[UUID, str]]:
    """Return the ids of a list with their positions, and the repeated ones."""
    problems: list[Problem] = []
    fields: dict[UUID, str] = {}
    for index, entry in enumerate(entries or ()):
        field = f"{wire_name(name)}.{index}.id"
        if entry.id in fields:
            problems.append(
                Problem(field, "duplicate_id", gettext("This id is in the list twice."))
            )
        elif entry.id is not None:
            fields[entry.id] = field
    return problems, fields


def _refuse_unknown_ids(partner: Partner, values: dict[str, Any]) -> None:
    problems: list[Problem] = []
    for name in values.keys() & LISTS.keys():
        twice, fields = _ids_and_duplicates(name, values[name])
        existing_ids = {item.id for item in getattr(partner, LISTS[name][0])}
        problems += twice
        problems += [
            Problem(
                field, "unknown_id", gettext("No entry of this list has this id. Leave it out.")
            )
            for identifier, field in fields.items()
            if identifier not in existing_ids
        ]
    if problems:
        raise ValidationFailed.of(*sorted(problems, key=lambda problem: problem.field))


def _audit_values(partner: Partner, caller: Caller, names: dict[str, Any]) -> dict[str, Any]:
    resource = to_resource(partner, caller, BrandedPartner).model_dump(mode="json", by_alias=True)
    return {wire_name(name): resource[wire_name(name)] for name in names}


def _add_under_free_slug(session: Session, partner: Partner) -> None:
    """Store the partner. Its slug is its name in plain letters, numbered if that is taken, and
    random if a concurrent request takes the same one."""
    base = hyphenated(partner.name, MAX_SLUG_LENGTH) or "partner"
    used_slugs = set(session.scalars(select(Partner.slug).where(Partner.slug.startswith(base))))
    numbered = (f"{base}-{number}" for number in range(2, len(used_slugs) + 3))
    partner.slug = next(slug for slug in (base, *numbered) if slug not in used_slugs)
    try:
        with session.begin_nested():
            session.add(partner)
    except IntegrityError:
        partner.slug = f"{base}-{secrets.token_hex(4)}"
        session.add(partner)
        session.flush()
