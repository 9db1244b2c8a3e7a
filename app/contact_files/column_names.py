"""The names that exporters and users give to the columns of a contact file.

From the exports of HubSpot, Google Contacts, Outlook, Salesforce, Mailchimp, Zoho, Pipedrive and
GoHighLevel, of dialers, and plain English, German, French, Spanish, Portuguese, Italian and Dutch.
"""

import re
import unicodedata

FIRST_NAME = """
first name|first|first name (billing)|given name|given names|forename|fname|
person - first name|vorname|prénom|nombre|nombre de pila|primer nombre|nome|rufname|
nombres|primeiro nome|nome próprio|voornaam
"""
LAST_NAME = """
last name|last|last name (billing)|surname|family name|lname|
person - last name|nachname|familienname|zuname|nom|nom de famille|apellido|apellidos|cognome|
sobrenome|apelido|último nome|achternaam
"""
FULL_NAME = """
name|full name|contact name|contact full name|display name|person|person - name|person name|
lead name|customer|customer name|client|client name|patient|patient name|member|member name|
attendee|guest|contact|contact person|file as|nom complet|nombre completo|vollständiger name|
ansprechpartner|kunde|kundenname|kontakt|kontaktname|cliente|contacto|
first and last name|vorname nachname|vorname und nachname|vor- und nachname|prénom nom|
prénom et nom|nombre y apellido|nombre y apellidos|nome completo|nome e sobrenome|nome e cognome|
nome do cliente|nombre del cliente|nom du client|patientenname|volledige naam|naam
"""
LAST_NAME_FIRST = """
last name, first name|last, first|surname, first name|surname, given name|family name, given name|
surname, forename|name, first name|nachname, vorname|familienname, vorname|zuname, vorname|
name, vorname|nom, prénom|apellido, nombre|apellidos, nombre|apellidos, nombres|cognome, nome|
sobrenome, nome|apelido, nome|achternaam, voornaam
"""
EMAIL = """
email|e-mail|email address|e-mail address|mail|mail address|email id|contact email|
primary email|work email|personal email|business email|home email|other email|secondary email|
email 1|email 2|email 3|e-mail 1 - value|e-mail 2 - value|e-mail 3 - value|e-mail 2 address|
e-mail 3 address|e-mail 2: adresse|e-mail 3: adresse|adresse de messagerie|
adresse de messagerie 2|adresse de messagerie 3|additional email addresses|
email (billing)|additional emails|emails|main email|alternate email|tertiary email|
subscriber email|person - email|person - email - work|
person - email - home|person - email - other|email (work)|email (home)|email (other)|
e-mail-adresse|emailadresse|mailadresse|courriel|adresse e-mail|adresse email|adresse mail|
correo|correo electrónico|dirección de correo electrónico|email - work|email - personal|
adresse courriel|adresse électronique|adresse de courriel|mél|e-mail privat|e-mail geschäftlich|
email privat|dirección de correo|dirección de email|endereço de e-mail|correio eletrônico|
correio eletrónico|posta elettronica|indirizzo e-mail|e-mailadres
"""
PHONE = """
phone|phone number|phone no|phone #|telephone|telephone number|tel|tel no|tel.-nr.|mobile|
mobile phone|mobile phone number|mobile number|mobile no|cell|cell phone|cell number|
cell phone number|cellular|contact phone|contact number|contact no|primary phone|main phone|
home phone|home phone 2|work phone|work phone number|business phone|business phone 2|office phone|
other phone|day phone|evening phone|daytime phone|direct phone|direct line|car phone|
phone 1|phone 2|phone 3|phone1|phone2|phone3|phone 1 - value|phone 2 - value|phone 3 - value|
phone 4 - value|person - phone|person - phone - work|person - phone - home|person - phone - mobile|
person - phone - other|phone (work)|phone (home)|phone (mobile)|phone (other)|phone - work|
phone - home|phone - mobile|alt phone|alternate phone|alternative phone|second phone|
phone number 1|phone number 2|phone number 3|mobile 1|mobile 2|mobile phone 2|cell 1|cell 2|
landline|land line|contact phone 1|contact phone 2|contact number 1|contact number 2|tel 1|tel 2|
telephone 1|telephone 2|whatsapp|whatsapp number|
additional phone numbers|additional phones|additional phone|phone numbers|phones|night phone|
phone (billing)|secondary phone|secondary phone number|direct phone|
direct phone number|work direct phone|whatsapp phone number|phone (main)|hm phone|wk phone|
wireless phone|dial number|number to call|
number1|number2|number3|
telefon|telefonnummer|telefonnr|tel nr|rufnummer|handy|handynummer|handynr|mobil|mobilnummer|
mobiltelefon|mobilfunk|mobilfunknummer|telefon mobil|telefon privat|telefon geschäftlich|
téléphone|téléphone mobile|téléphone portable|téléphone fixe|numéro de téléphone|portable|
numéro de portable|n° de téléphone|teléfono|teléfono móvil|número de teléfono|móvil|celular|
teléfono celular|telefono|cellulare|telefoonnummer|telefoon|
tel. privat|tel. mobil|tel. geschäftlich|tel. dienstlich|tel. büro|telefon büro|telefon dienstlich|
telefon beruflich|telefon firma|telefon zuhause|telefon (privat)|telefon (mobil)|
telefon (geschäftlich)|haupttelefon|autotelefon|weiteres telefon|
festnetz|festnetznummer|festnetztelefon|mobil-nr.|mobilnr|mobile nr|
handy-nr.|telefon-nr.|telefonnummer privat|telefonnummer mobil|kontaktnummer|
tél|tél.|tél. portable|tél. mobile|tél. fixe|tél. domicile|tél. bureau|numéro de téléphone portable|
numéro de mobile|téléphone domicile|téléphone bureau|téléphone professionnel|téléphone personnel|
téléphone principal|téléphone (voiture)|téléphone (autre)|téléphone 2 (bureau)|
téléphone 2 (domicile)|fixe|n° tél|n° portable|
tfno|tfno.|tlf|tlf.|tlfno|teléfono fijo|teléfono de casa|teléfono particular|teléfono del trabajo|
teléfono principal|teléfono de contacto|número de celular|número de móvil|número celular|
número de contacto|
telefone|telefone celular|telefone fixo|telefone residencial|telefone comercial|telefone móvel|
telefone de contato|número de telefone|número do celular|telemóvel|
tel. cellulare|telefono cellulare|telefono fisso|telefono casa|telefono ufficio|
numero di telefono|numero di cellulare|mobiel|mobiel nummer|mobiele telefoon
"""
EXTERNAL_ID_KEY = "externalIdKey|external id key"
EXTERNAL_ID_VALUE = "externalIdValue|external id value"
STATUS = "status|contact status|campaign status|outreach status|estado|statut"
CONSENT = """
consent|consent status|consent given|consent to call|call consent|calling consent|phone consent|
phone opt-in|call opt-in|einwilligung|einwilligung telefon|consentement|consentimiento
"""
CONSENT_SOURCE = "consent source|source of consent|quelle der einwilligung"
CONSENT_AT = """
consent date|consent at|consent time|date of consent|consent given at|einwilligung am|
datum der einwilligung|date du consentement
"""


WHOLE_WHERE_ALONE = frozenset({"nombre", "nome"})
"""Plain names of first names that are the full name if no other column has a name."""
_NUMBERED = re.compile(r"(.+?)[1-9]")
_NUMBER_SIGN = re.compile("#s?")
_ASIDE = re.compile(
    r"\((?:required|mandatory|optional|primary|preferred|e\.?164|"
    r"(?:with|incl\.?|including) country code|pflichtfeld|obligatoire|facultatif|"
    r"obligatorio|opcional|obbligatorio|verplicht)\)\s*$",
    re.IGNORECASE,
)
"""Words that templates add to a column name."""
_GOOGLE = re.compile(r"(phone|email)[1-9][0-9]?value")
_WITH_OWNER = re.compile(
    r"(?:contact|customer|client|patient|lead|member|guest|attendee|subscriber|invitee)(?!number)(.+)"
)
_MANY = frozenset({"phone", "email"})
_PHONE_WORDS = re.compile(
    r"phone|telefon|telefoon|mobil|movel|movil|mobiel|handy|celular|cellular|cellulare|whatsapp|"
    r"rufnummer|festnetz|landline|portable|\b(?:tel|tfno|tlf|cell|gsm)\b"
)
_OF_ANOTHER = re.compile(r"emergency|notfall|urgence|emergencia|fax|pager")
_PARTS = frozenset({"firstName", "lastName"})


def normalized_name(name: str) -> str:
    """Return a column name by its letters and digits only: ``E-mail 1 - Value`` ->
    ``email1value``."""
    decomposed = unicodedata.normalize("NFKD", name.replace("ß", "ss")).casefold()
    return "".join(character for character in decomposed if character.isalnum())


def words_of(name: str) -> str:
    """Return a column name by its words, without accents and signs: ``Code_région`` ->
    ``code region``."""
    decomposed = unicodedata.normalize("NFKD", name.replace("ß", "ss")).casefold()
    letters = (each for each in decomposed if not unicodedata.combining(each))
    return " ".join("".join(each if each.isalnum() else " " for each in letters).split())


def _fields_by_name(names: str, field: str) -> dict[str, str]:
    return {
        normalized_name(name): field
        for name in names.replace("\n", "").split("|")
        if normalized_name(name)
    }


FIELD_OF = {
    **_fields_by_name(FIRST_NAME, "firstName"),
    **_fields_by_name(LAST_NAME, "lastName"),
    **_fields_by_name(FULL_NAME, "fullName"),
    **_fields_by_name(EMAIL, "email"),
    **_fields_by_name(PHONE, "phone"),
    **_fields_by_name(STATUS, "status"),
    **_fields_by_name(EXTERNAL_ID_KEY, "externalIdKey"),
    **_fields_by_name(EXTERNAL_ID_VALUE, "externalIdValue"),
}
"""Plain column name -> field of a contact."""
_LAST_NAME_FIRST = frozenset(_fields_by_name(LAST_NAME_FIRST, "fullName"))
"""Plain names of full-name columns in which a comma decides the order: "Groß, Jürgen"."""

METADATA_KEY_OF = {
    **_fields_by_name(CONSENT, "consent"),
    **_fields_by_name(CONSENT_SOURCE, "consentSource"),
    **_fields_by_name(CONSENT_AT, "consentAt"),
}
"""Plain column name -> metadata key with a meaning. An opt-in to mail is not a consent to calls."""


CALLING_CODE = frozenset(
    _fields_by_name(
        """
country code|phone code|phone country code|country calling code|calling code|dial code|
dialing code|dialling code|country dial code|isd code|isd|landesvorwahl|ländervorwahl|
indicatif|indicatif pays|indicatif téléphonique|prefijo|prefijo país|prefijo internacional|
código de país|código del país|código do país|prefisso internazionale|ddi
""",
        "callingCode",
    )
)
"""Plain names of columns that may hold the country code of the numbers of their row."""


def metadata_key_of(name: str) -> str | None:
    """Return the metadata key of a column of this name."""
    return METADATA_KEY_OF.get(normalized_name(name))


def field_of(name: str) -> str | None:
    """Return the contact's field of a column, if its name is known; phones and addresses may have a
    number (``Telefon 2``). ``Member #`` and ``Member?`` aren't names."""
    name = _ASIDE.sub("", name).rstrip()
    if "," in name and normalized_name(name) in _LAST_NAME_FIRST:
        return "fullName"
    field = _field_of_numbered(normalized_name(name)) or _field_without_owner(normalized_name(name))
    if field in _MANY or not ("#" in name or name.endswith("?")):
        return field
    candidates = (
        _field_of_numbered(normalized_name(_NUMBER_SIGN.sub(word, name))) for word in ("number", "")
    )
    return "phone" if "phone" in candidates else None


def may_be_phone(name: str) -> bool:
    """Return whether a word in the name says that the column may hold the contact's phone: ``Mobile
    (work)``, ``Handy der Kundin``."""
    decomposed = unicodedata.normalize("NFKD", name).casefold().replace("_", " ")
    letters = "".join(filter(lambda each: not unicodedata.combining(each), decomposed))
    return bool(_PHONE_WORDS.search(letters)) and not _OF_ANOTHER.search(letters)


def _field_of_numbered(letters: str) -> str | None:
    field = FIELD_OF.get(letters)
    if field is None and (match := _NUMBERED.fullmatch(letters) or _GOOGLE.fullmatch(letters)):
        field = FIELD_OF.get(match[1])
        return field if field in _MANY else None
    return field


def _field_without_owner(letters: str) -> str | None:
    """Return the field of ``Patient first name`` or ``Customer e-mail``, without the owner."""
    match = _WITH_OWNER.fullmatch(letters)
    field = _field_of_numbered(match[1]) if match else None
    return field if field in _MANY or field in _PARTS else None


def made_name(index: int) -> str:
    """Return the name of a column that has none in the file."""
    return f"Column {column_letters(index)}"


def column_letters(index: int) -> str:
    """Return the letters of a spreadsheet's column: 0 is A, 26 is AA."""
    text = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, 26)
        text = chr(ord("A") + digit) + text
    return text
