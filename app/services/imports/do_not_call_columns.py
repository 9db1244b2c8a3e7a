"""Columns that state who must not be called, and the words in their cells."""

import re

from app.contact_files.column_names import field_of, normalized_name

_DO_NOT_CALL_NAMES = """
do not call|do not call list|on do not call list|do not call flag|do not call status|dont call|
donotcall|dnc|dnc flag|dnc status|dnc list|on dnc|federal dnc|national dnc|state dnc|
federal do not call|national do not call|state do not call|dnc registered|
tps|ctps|tps registered|ctps registered|bloctel|lista robinson|
do not phone|donotphone|do not phone flag|do not telephone|do not allow phone calls|
do not contact|do not contact by phone|never call|no call|no calls|no phone calls|
no telephone calls|dnd|do not disturb|
phone opt out|phone optout|phone opted out|call opt out|call optout|calls opt out|calling opt out|
opt out of calls|opted out of calls|opted out of call|opted out of phone|opted out of phone calls|
has opted out of call|has opted out of calls|has opted out of phone|voice opt out|
opted out of voice|opt out phone|opt out call|opt out calls|opt out voice|
opt out|opted out|has opted out|
nicht anrufen|bitte nicht anrufen|keine anrufe|kein anruf|anrufsperre|telefonsperre|
telefon sperre|telefonverbot|anrufverbot|telefon opt out|telefonische werbesperre|
werbesperre telefon|nicht kontaktieren|kontaktsperre|
ne pas appeler|ne pas téléphoner|ne plus appeler|ne pas contacter|ne pas contacter par téléphone|
pas d'appels|pas d'appel|opposition téléphonique|opposition appel|opposition appels|
refus d'appel|refus appel|refus d'appels|
no llamar|no llamar por teléfono|no contactar|no contactar por teléfono|no molestar|
no desea llamadas|
não ligar|não telefonar|não contatar|não contactar|não perturbe|não me perturbe|
não chamar|
non chiamare|non telefonare|non contattare|non contattare telefonicamente|
registro delle opposizioni|registro opposizioni|
niet bellen|niet telefoneren|bel me niet|bel-me-niet|bel me niet register|niet contacteren|
niet benaderen
"""
_PLAIN_DO_NOT_CALL_NAMES = frozenset(
    normalized_name(name) for name in _DO_NOT_CALL_NAMES.replace("\n", "").split("|")
)
_OWN_FIELD = "__c"
"""The ending that Salesforce gives to custom fields."""
_OF_A_PHONE = re.compile(r"(.+?)(?:dnc|donotcall)(?:flag|status)?|(?:dnc|donotcall)(.+)")

_REFUSALS = frozenset(
    {
        "yes",
        "y",
        "true",
        "t",
        "1",
        "-1",
        "1.0",
        "x",
        "✓",
        "✔",
        "☑",
        "on",
        "checked",
        "set",
        "ja",
        "j",
        "wahr",
        "oui",
        "o",
        "vrai",
        "sí",
        "si",
        "s",
        "verdadero",
        "cierto",
        "sim",
        "verdadeiro",
        "vero",
        "waar",
        "active",
        "registered",
        "listed",
        "blocked",
        "dnc",
        "dnd",
        "do not call",
        "do not phone",
        "do not contact",
        "do not allow",
        "don't call",
        "no calls",
        "opted out",
        "opted-out",
        "opt-out",
        "opt out",
        "optout",
        "unsubscribed",
        "refused",
        "declined",
        "denied",
        "withdrawn",
        "revoked",
        "nicht anrufen",
        "ne pas appeler",
        "no llamar",
        "não ligar",
        "non chiamare",
        "niet bellen",
    }
)
_NO_REFUSALS = frozenset(
    {
        "no",
        "n",
        "false",
        "f",
        "0",
        "0.0",
        "off",
        "unchecked",
        "not set",
        "☐",
        "nein",
        "falsch",
        "non",
        "faux",
        "falso",
        "não",
        "nao",
        "nee",
        "onwaar",
        "inactive",
        "not registered",
        "not listed",
        "clear",
        "clean",
        "allow",
        "allowed",
        "may call",
        "ok to call",
        "opted in",
        "opted-in",
        "opt-in",
        "opt in",
        "subscribed",
    }
)

DO_NOT_CALL_WARNINGS = frozenset({"do_not_call", "do_not_call_unclear"})
"""Warnings that apply only to contacts that are stored."""


def is_do_not_call_column(name: str) -> bool:
    """Return whether a column of this name states who must not be called, such as ``Phone 2
    DNC``."""
    letters = normalized_name(name.removesuffix(_OWN_FIELD))
    if letters in _PLAIN_DO_NOT_CALL_NAMES:
        return True
    of_a_phone = _OF_A_PHONE.fullmatch(letters)
    return bool(of_a_phone and field_of(of_a_phone[1] or of_a_phone[2]) == "phone")


def asks_not_to_be_called(text: str) -> bool | None:
    """Return whether a non-empty cell asks not to be called; None if it is neither yes nor no."""
    word = " ".join(text.casefold().split())
    return True if word in _REFUSALS else False if word in _NO_REFUSALS else None
