"""Columns onto the fields of a contact."""

from typing import Any

import pytest

from app.services.imports.mapping import ColumnTarget, HeaderMapping, TargetField
from app.services.imports.suggestions import by_content, suggest


def suggested(*header: str, keys: tuple[str, ...] = ()) -> list[str]:
    return [str(target) for target in suggest(header, keys)]


# Columns as each product exports them, and what becomes of each; ``*`` is metadata.
EXPORTS = {
    "HubSpot": (
        "Record ID|First Name|Last Name|Email|Phone Number|Mobile Phone Number|Lead Status",
        "*|firstName|lastName|email|phone|phone|*",
    ),
    "Google": (
        (
            "Name|Given Name|Family Name|E-mail 1 - Type|E-mail 1 - Value|Phone 1 - Type|"
            "Phone 1 - Value|Phone 2 - Value"
        ),
        "*|firstName|lastName|*|email|*|phone|phone",
    ),
    "Google, many numbers": (
        "First Name|Last Name|E-mail 4 - Value|Phone 5 - Label|Phone 5 - Value|Phone 12 - Value",
        "firstName|lastName|email|*|phone|phone",
    ),
    "Outlook": (
        (
            "Title|First Name|Last Name|Business Fax|Business Phone|Home Phone|Mobile Phone|"
            "Assistant's Phone|E-mail Address|E-mail 2 Address"
        ),
        "*|firstName|lastName|*|phone|phone|phone|*|email|email",
    ),
    "Salesforce": (
        "First Name|Last Name|Account Name|Phone|Mobile|Email|Contact Owner",
        "firstName|lastName|*|phone|phone|email|*",
    ),
    "Mailchimp": (
        "Email Address|First Name|Last Name|Phone Number|MEMBER_RATING|TAGS",
        "email|firstName|lastName|phone|*|*",
    ),
    "Zoho": (
        "Record Id|First Name|Last Name|Account Name|Email|Phone|Mobile|Home Phone|Fax",
        "*|firstName|lastName|*|email|phone|phone|phone|*",
    ),
    "Pipedrive": (
        "Person - Name|Person - Organization|Person - Email - Work|Person - Phone - Mobile",
        "fullName|*|email|phone",
    ),
    "GoHighLevel": (
        (
            "Contact Id|First Name|Last Name|Phone|Email|Created|Tags|Additional Emails|"
            "Additional Phones"
        ),
        "*|firstName|lastName|phone|email|*|*|email|phone",
    ),
    "Five9": (
        "number1|number2|number3|first_name|last_name|company|Last Disposition",
        "phone|phone|phone|firstName|lastName|*|*",
    ),
    "Aircall": (
        "first_name|last_name|company_name|emails|phone_numbers",
        "firstName|lastName|*|email|phone",
    ),
    "Eventbrite": (
        "Attendee #|Attendee First Name|Attendee Surname|Attendee email|Buyer email|Phone number",
        "*|firstName|lastName|email|*|phone",
    ),
    "WooCommerce": (
        "Order Number|First Name (Billing)|Last Name (Billing)|Email (Billing)|Phone (Billing)",
        "*|firstName|lastName|email|phone",
    ),
    "people of a practice": (
        "Patient #|Patient Name|Patient Phone|Patient E-Mail|Doctor Phone|Emergency Contact Phone",
        "*|fullName|phone|email|*|*",
    ),
    "Jobber": (
        "First Name|Last Name|Main Phone #s|Mobile Phone #s|Fax Phone #s",
        "firstName|lastName|phone|phone|*",
    ),
    "a template": (
        "Name (required)|Phone (with country code)|E-Mail (optional)|Phone (assistant)",
        "fullName|phone|email|*",
    ),
    "numbers and answers": ("Member #|Customer?|Phone #|Contact #", "*|*|phone|phone"),
    "PhoneBurner": (
        "First Name|Last Name|Primary Email|Primary Phone|Additional Phone 1|Category",
        "firstName|lastName|email|phone|phone|*",
    ),
    "German Outlook": (
        "Vorname|Nachname|Haupttelefon|Mobiltelefon|E-Mail-Adresse|E-Mail-Typ|E-Mail 2: Adresse",
        "firstName|lastName|phone|phone|email|*|email",
    ),
    "French Outlook": (
        "Prénom|Nom|Téléphone (voiture)|Tél. mobile|Adresse de messagerie|Type de messagerie",
        "firstName|lastName|phone|phone|email|*",
    ),
    "German": (
        "Vorname|Nachname|Rufnummer|E-Mail-Adresse|Straße",
        "firstName|lastName|phone|email|*",
    ),
    "French": ("Prénom|Nom|Téléphone portable|Courriel", "firstName|lastName|phone|email"),
    "Spanish": (
        "Nombre|Apellidos|Teléfono móvil|Correo electrónico|Estado",
        "firstName|lastName|phone|email|status",
    ),
    "one name beside a last name": ("Patient|Surname|Mobile", "firstName|lastName|phone"),
    "plain": ("name|PHONE_NUMBER|status|Status", "fullName|phone|status|*"),
}


@pytest.mark.parametrize(("columns", "fields"), EXPORTS.values(), ids=EXPORTS)
def test_exports_map_by_themselves(columns: str, fields: str) -> None:
    header = columns.split("|")
    expected = [
        f"metadata:{name}" if target == "*" else target
        for name, target in zip(header, fields.split("|"), strict=True)
    ]
    assert suggested(*header) == expected


def test_external_ids_are_found_by_their_keys() -> None:
    header = ("CRM id", "External ID", "Phone")
    assert suggested(*header, keys=("crmId",)) == [
        "externalId:crmId",
        "metadata:External ID",
        "phone",
    ]
    assert suggested("External ID", keys=("crmId",)) == ["externalId:crmId"]
    assert suggested("External ID", "siteId", keys=("crmId", "siteId")) == [
        "metadata:External ID",
        "externalId:siteId",
    ]


def test_an_external_id_may_be_named_by_a_column_beside_its_value() -> None:
    assert suggested("Phone", "externalIdKey", "External ID Value") == [
        *("phone", "externalIdKey", "externalIdValue"),
    ]
    assert suggested("Phone", "externalIdValue") == ["phone", "metadata:externalIdValue"]


def test_columns_about_consent_become_the_metadata_that_calls_look_at() -> None:
    header = ("Phone", "Consent", "Consent source", "Einwilligung am", "OPTIN_TIME", "consent")
    assert suggested(*header) == [
        "phone",
        "metadata:consent",
        "metadata:consentSource",
        "metadata:consentAt",
        "metadata:OPTIN_TIME",
        "metadata:consent (2)",
    ]


def test_long_names_of_columns_become_keys_that_fit() -> None:
    targets = suggest(["x" * 70, "x" * 71])
    assert [target.key for target in targets] == ["x" * 64, "x" * 60 + " (2)"]


@pytest.mark.parametrize("text", ["phone", "metadata:Recall due", "externalId:crmId", "ignore"])
def test_a_target_is_read_from_its_notation(text: str) -> None:
    assert str(ColumnTarget.parse(text)) == text


def test_a_target_that_is_no_field_is_refused() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        ColumnTarget.parse("nonsense")


@pytest.mark.parametrize(
    ("fields", "finds"),
    [
        ([TargetField.PHONE], True),
        ([TargetField.EMAIL], True),
        ([TargetField.STATUS, TargetField.METADATA], False),
    ],
)
def test_a_mapping_knows_whether_it_identifies_contacts(
    fields: list[TargetField], finds: bool
) -> None:
    header: list[Any] = [str(field) for field in fields]
    assert HeaderMapping(header, [ColumnTarget(field) for field in fields]).finds_contacts is finds


SPARSE = (
    ("Ann Lee", "(202) 555-0143", "303-555-0111", "ann@example.com"),
    ("Bob Ray", "3033422", "", "bob@example.com"),
    ("Cara Diaz", "202 555 0199", "", "cara@example.com"),
    ("Dan Ost", "4.42E+11", "", "dan@example"),
    ("Eve Fox", "+12025550150", "", ""),
)
TWO_NUMBERS = (("202 555 0143", "303 555 0111"), ("202 555 0144", "303 555 0112"))
IDS = (("12", "ann"), ("13", "bob"))


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        (SPARSE, ["fullName", "phone", "metadata:C", "email"]),
        (TWO_NUMBERS, None),
        (IDS, None),
    ],
)
def test_columns_without_names_are_what_most_of_their_values_are(
    rows: tuple[tuple[str, ...], ...], fields: list[str] | None
) -> None:
    found = by_content("ABCD"[: len(rows[0])], rows, "US")
    assert (None if found is None else [str(target) for target in found]) == fields


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        ("Anna,*", "firstName phone"),
        ("Anna,Lees,*", "firstName lastName phone"),
        ("Anna Lees,*", "fullName phone"),
        ("*,Jean-Luc,O’Neill", "phone firstName lastName"),
        ("Łucja,Żak,*|Øyvind,Åse,*|Émile,d'Arc,*", "firstName lastName phone"),
        ("Анна,Иванова,*|Пётр,Попов,*", "firstName lastName phone"),
        ("太郎,佐藤,*|さくら,山本,*", "firstName lastName phone"),
        ("प्रिया,शर्मा,*|अमित,सिंह,*", "firstName lastName phone"),
        ("Hove,Anna,*", "metadata firstName phone"),
        ("Mary Ann,Lees,*|Bob,de la Cruz,*|Cy,Ek,*", "firstName lastName phone"),
        ("Ana,García López,*|José,Ruiz Soto,*|Eva,Gil Mora,*", "firstName lastName phone"),
        ("Greta Thorn,*|Bo,*|Cy,*", "fullName phone"),
        ("Anna,Lees,Hove,*|Bob,Ray,Hove,*", "firstName lastName metadata phone"),
        ("Anna,Lees,San Diego,*", "firstName lastName metadata phone"),
        ("Anna,Berlin,*|Bob,Deutschland,*", "firstName metadata phone"),
        ("Hove,Anna,Lees,*|Rye,Bob,Ray,*", "metadata firstName lastName phone"),
        ("Acme,Anna Lees,*", "metadata fullName phone"),
        ("Acme Ltd,Anna,Lees,*", "metadata firstName lastName phone"),
        ("Anna,*,High Street", "firstName phone metadata"),
        ("Anna,Active,*", "firstName metadata phone"),
        ("US,Anna,*|DE,Bob,*", "metadata firstName phone"),
        ("A12,*|B13,*", "metadata phone"),
        ("lead,*|prospect,*", "metadata phone"),
        ("Hove,*|Hove,*|Rye,*|Hove,*", "metadata phone"),
        ("London,*|Paris,*|Madrid,*", "metadata phone"),
        ("Lakeside Dental,*|Greta GmbH,*", "metadata phone"),
    ],
)
def test_names_are_found_in_columns_without_names(lines: str, fields: str) -> None:
    rows = [
        [f"+1202555010{number}" if cell == "*" else cell for cell in line.split(",")]
        for number, line in enumerate(lines.split("|"))
    ]
    found = by_content("ABCD"[: len(rows[0])], rows, "US")
    assert found is not None
    assert " ".join(target.field for target in found) == fields
