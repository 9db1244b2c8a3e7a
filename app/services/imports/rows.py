"""Turn the cells of a row into the fields of a contact.

Of several phone columns the first valid number counts, with a warning; the others become metadata.
The same holds for email columns. Other columns become metadata under their own name.
"""

import re
from collections.abc import Sequence
from typing import Any

from app.contact_files.cleaning import narrow, quoted_formula, without_invisible
from app.contact_files.full_names import is_within, read_beside, read_name
from app.errors import Sentence
from app.phone import region_of_code
from app.services.contacts import consent
from app.services.imports.cells import (
    COUNTS_AS_EMPTY,
    WRITTEN_AS,
    CellNote,
    PhoneCell,
    are_ordinary,
    is_ordinary,
    placeholder,
    read_email,
    read_phone,
    undecodable,
    unusable,
)
from app.services.imports.contact_json import read_exact
from app.services.imports.do_not_call_columns import asks_not_to_be_called
from app.services.imports.mapping import PAIR, HeaderMapping, MappedRow
from app.validation.emails import is_email

_BETWEEN = re.compile(r"[\s;,|]+|:::")
_EXPLICIT = ("00", "011", "\uff0b")
"""Prefixes that mean + before a country code."""
EXTENSION_KEY = "phoneExtension"
"""The metadata key of an extension."""
REFUSAL = "no"
"""The value of consent in the metadata if a column forbids calls."""
TITLE_KEY = "Title"
"""The metadata key of a title that was part of a name."""
_NOT_CALLED = Sentence.gettext("Asked not to be called: kept, and not called.")
_UNCLEAR = Sentence.gettext("“%(text)s” is neither yes nor no: kept, and not called.")
_A_FORMULA = Sentence.gettext("Written as a formula that only holds this text.")
_INVISIBLE_REMOVED = Sentence.gettext("Invisible characters were removed.")
_SEVERAL_EMAILS = Sentence.gettext("Several email addresses in one cell: keep one.")
_SEVERAL_EMAILS_BESIDE = Sentence.gettext(
    "Several email addresses in one cell: keep one. %(email)s is used instead."
)
_OTHER_EMAIL = Sentence.gettext("%(email)s is used; this address is kept as metadata only.")
_WITHOUT_EXTENSION = Sentence.gettext(
    "Kept without its extension %(extension)s, which is kept as metadata."
)
# Translators: problem_words is a sentence
_OTHER_PHONE_USED = Sentence.gettext("%(problem_words)s %(phone)s is used instead.")
_OTHER_PHONE = Sentence.gettext("%(phone)s is used; this number is kept as metadata.")


def to_contact(
    values: Sequence[str], mapping: HeaderMapping, default_region: str | None
) -> MappedRow:
    """Return one row of text as a contact: keys ``firstName lastName email phone status
    contactMetadata externalIdKey externalIdValue externalIds``, those without a value left out."""
    row = MappedRow(ordinary=are_ordinary(values))
    metadata = _read_metadata(values, mapping, row)
    _read_names(values, mapping, row, metadata)
    _read_emails(values, mapping, row, metadata)
    _read_phones(values, mapping, row, metadata, default_region)
    _external_ids(values, mapping, row)
    for index in mapping.exact:
        _add_exact(values[index], index, row, metadata)
    if mapping.do_not_call:
        _read_refusals(values, mapping, row, metadata)
    if metadata:
        row.contact["contactMetadata"] = metadata
    return row


def _read_metadata(values: Sequence[str], mapping: HeaderMapping, row: MappedRow) -> dict[str, Any]:
    """Return the metadata: every cell unchanged, because words like "none" may have a meaning
    there."""
    metadata: dict[str, Any] = {}
    for index, key in mapping.metadata:
        text = values[index].strip()
        if not text:
            continue
        if row.ordinary or is_ordinary(text):
            metadata[key] = text
            continue
        note = unusable(text, index)
        if note is None:
            metadata[key] = text
        elif note.code == "formula_without_value":
            row.warnings.append(note)
        elif note.code == "cell_error":
            row.warnings.append(CellNote(index, "placeholder_value", COUNTS_AS_EMPTY(text=text)))
        else:
            row.errors.append(note)
    return metadata


def _read_names(
    values: Sequence[str], mapping: HeaderMapping, row: MappedRow, metadata: dict[str, Any]
) -> None:
    for index, name in mapping.singles:
        if text := _cell_text(values, index, row):
            row.contact[name] = text
    for index in mapping.full_names:
        if text := _cell_text(values, index, row):
            stored = row.contact.get("firstName", ""), row.contact.get("lastName", "")
            full_name = read_beside(text, *stored) if any(stored) else read_name(text)
            if full_name.first:
                row.contact.setdefault("firstName", full_name.first)
            if full_name.last:
                row.contact.setdefault("lastName", full_name.last)
            if full_name.title:
                metadata.setdefault(TITLE_KEY, full_name.title)
            if any(stored) or full_name.title:
                _store_full_name(text, mapping.keys[index], row, metadata)


def _store_full_name(text: str, key: str, row: MappedRow, metadata: dict[str, Any]) -> None:
    """Keep a full name if it says more than the parts that were taken from it."""
    parts = (row.contact.get("firstName"), row.contact.get("lastName"), metadata.get(TITLE_KEY))
    if not is_within(text, " ".join(filter(None, parts))):
        metadata.setdefault(key, text)


def _external_ids(values: Sequence[str], mapping: HeaderMapping, row: MappedRow) -> None:
    """Set the contact's pair from the columns of a pair, else from the first column with a value;
    the other ids follow."""
    for index, key in mapping.external_ids:
        text = _cell_text(values, index, row)
        if text and not row.contact.keys().isdisjoint(PAIR):
            row.contact.setdefault("externalIds", {})[key] = text
        elif text:
            row.contact["externalIdKey"], row.contact["externalIdValue"] = key, text


def _add_exact(cell: str, index: int, row: MappedRow, metadata: dict[str, Any]) -> None:
    if not (text := cell.strip()):
        return
    exact, problem = read_exact(text, index)
    if problem is not None:
        row.errors.append(problem)
    metadata.update(exact.pop("contactMetadata", {}))
    if ids := exact.pop("externalIds", {}):
        row.contact["externalIds"] = row.contact.get("externalIds", {}) | ids
    row.contact.update(exact)


def _read_refusals(
    values: Sequence[str], mapping: HeaderMapping, row: MappedRow, metadata: dict[str, Any]
) -> None:
    """Record a refusal of calls, whatever other columns say about consent; the first column that
    refuses is the source."""
    sources = []
    for index in mapping.do_not_call:
        text = _cell_text(values, index, row, is_name=False)
        refuses = asks_not_to_be_called(text) if text else False
        if refuses:
            sources.append(mapping.header[index])
            row.warnings.append(CellNote(index, "do_not_call", _NOT_CALLED()))
        elif refuses is None:
            sources.append(f"{mapping.header[index]}: {text}")
            row.warnings.append(CellNote(index, "do_not_call_unclear", _UNCLEAR(text=text)))
    if sources:
        metadata[consent.KEY] = REFUSAL
        metadata[consent.SOURCE_KEY] = sources[0]
        if consent.AT_KEY not in metadata:
            metadata[consent.AT_KEY] = None


def _cell_text(values: Sequence[str], index: int, row: MappedRow, *, is_name: bool = True) -> str:
    """Return the cell without spaces around it; empty if nothing in it can be kept."""
    text = values[index].strip()
    if not text or row.ordinary or is_ordinary(text):
        return text
    if not text.isascii():
        text = _clean_text(text, index, row, is_name=is_name)
        if not text:
            return ""
    if text[0] == "=" and (quoted := quoted_formula(text)):
        row.warnings.append(CellNote(index, "text_around_value", _A_FORMULA()))
        text = quoted
    if note := placeholder(text, index):
        row.warnings.append(note)
        return ""
    if note := unusable(text, index):
        row.errors.append(note)
        return ""
    return text


def _clean_text(text: str, index: int, row: MappedRow, *, is_name: bool) -> str:
    visible = without_invisible(text, joiners=not is_name)
    if visible != text:
        row.warnings.append(CellNote(index, "characters_removed", _INVISIBLE_REMOVED()))
    if note := undecodable(visible, index):
        row.errors.append(note)
        return ""
    return visible


def _read_emails(
    values: Sequence[str], mapping: HeaderMapping, row: MappedRow, metadata: dict[str, Any]
) -> None:
    """Choose among the columns of email addresses. Their form is checked when the contact is
    stored."""
    cells: list[tuple[int, str, str]] = []
    several: list[tuple[int, str]] = []
    for index in mapping.emails:
        text = _cell_text(values, index, row, is_name=False)
        if text.isascii() and is_email(text):
            cells.append((index, text, text))
        elif text.count("@") > 1 and len(_BETWEEN.split(text)) > 1:
            several.append((index, text))
        elif text:
            cells.append(_unusual_email(text, index, mapping, row, metadata))
    best = cells[0] if len(cells) == 1 else _best_address(cells)
    if several and not (best and is_email(best[2])):
        row.errors.extend(
            CellNote(index, "several_emails", _SEVERAL_EMAILS()) for index, _ in several
        )
        return
    if best is None:
        return
    row.contact["email"] = best[2]
    for index, text in several:
        metadata[mapping.keys[index]] = text
        message = _SEVERAL_EMAILS_BESIDE(email=best[2])
        row.warnings.append(CellNote(index, "email_dropped", message))
    for index, text, address in cells:
        if index != best[0] and address.casefold() != best[2].casefold():
            metadata[mapping.keys[index]] = text
            code = "several_emails" if is_email(address) else "email_dropped"
            message = _OTHER_EMAIL(email=best[2])
            row.warnings.append(CellNote(index, code, message))


def _unusual_email(
    text: str, index: int, mapping: HeaderMapping, row: MappedRow, metadata: dict[str, Any]
) -> tuple[int, str, str]:
    """Return the column, its text and the address in it."""
    if not text.isascii() and (plain_text := narrow(text)) != text:
        message = WRITTEN_AS(text=plain_text)
        row.warnings.append(CellNote(index, "characters_replaced", message))
        text = plain_text
    address, warnings, has_text = read_email(text, index)
    row.warnings.extend(warnings)
    if has_text:
        metadata[mapping.keys[index]] = text
    return index, text, address


def _best_address(cells: Sequence[tuple[int, str, str]]) -> tuple[int, str, str] | None:
    return next((cell for cell in cells if is_email(cell[2])), cells[0] if cells else None)


def _read_phones(
    values: Sequence[str],
    mapping: HeaderMapping,
    row: MappedRow,
    metadata: dict[str, Any],
    default_region: str | None,
) -> None:
    stated_region = (
        _stated_region(values, mapping, default_region) if mapping.calling_codes else None
    )
    region = stated_region or default_region
    faxes = mapping.faxes(values)
    for index in faxes:
        if text := _cell_text(values, index, row, is_name=False):
            metadata[mapping.keys[index]] = text
    cells = [
        (index, text, _accept_missing_zero(read_phone(text, index, region), stated_region))
        for index in mapping.phones
        if index not in faxes and (text := _cell_text(values, index, row, is_name=False))
    ]
    numbers = [cell for cell in cells if cell[2].number]
    if not numbers:
        row.errors.extend(cell.error for _, _, cell in cells if cell.error)
        return
    index, number_text, phone = numbers[0]
    row.contact["phone"] = phone.number
    has_country = (
        region != default_region or "+" in number_text or number_text.startswith(_EXPLICIT)
    )
    row.assumed_country = not has_country
    if phone.has_text:
        metadata[mapping.keys[index]] = number_text
    if phone.extension:
        metadata[EXTENSION_KEY] = phone.extension
        message = _WITHOUT_EXTENSION(extension=phone.extension)
        row.warnings.append(CellNote(index, "extension_dropped", message))
    row.warnings.extend(phone.warnings)
    for other_index, text, cell in cells:
        if other_index != index and (cell.number is None or cell.number != phone.number):
            metadata[mapping.keys[other_index]] = text
            row.warnings.append(_unused_phone_note(other_index, cell, str(phone.number)))


def _stated_region(
    values: Sequence[str], mapping: HeaderMapping, default_region: str | None
) -> str | None:
    """Return the region of the row's numbers, if a column of calling codes gives it."""
    regions = (region_of_code(values[index], default_region) for index in mapping.calling_codes)
    return next(filter(None, regions), None)


def _accept_missing_zero(cell: PhoneCell, region: str | None) -> PhoneCell:
    """Return the number: next to a country code, a missing leading zero isn't damage."""
    if region and cell.error and cell.error.reason == "leading_zero_lost" and cell.error.repair:
        return PhoneCell(cell.error.repair)
    return cell


def _unused_phone_note(column: int, cell: PhoneCell, used: str) -> CellNote:
    if cell.error:
        message = _OTHER_PHONE_USED(problem_words=cell.error.message, phone=used)
        return CellNote(column, "phone_dropped", message, cell.error.reason or cell.error.code)
    return CellNote(column, "several_phones", _OTHER_PHONE(phone=used))
