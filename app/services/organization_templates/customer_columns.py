"""The names that users give to the columns of a file of customers, in the portal's languages."""

from collections.abc import Sequence

from app.contact_files.column_names import EMAIL, FULL_NAME, may_be_phone, plain, words_of

_TIMEZONE = "time zone|timezone|tz|zeitzone|fuseau horaire|fuseau|zona horaria|huso horario"
_COUNTRY = """
country|country code|country name|land|ländercode|staat|pays|code pays|país|código de país|
código del país|region|région|región
"""
_NAME = """
organization|organization name|organisation|organisation name|company|company name|business|
business name|customer|customer name|client|client name|
organisationsname|name der organisation|firma|firmenname|name der firma|unternehmen|
unternehmensname|betrieb|kunde|kundenname|
nom de l’organisation|entreprise|nom de l’entreprise|société|nom de la société|raison sociale|
nom du client|
organización|nombre de la organización|empresa|nombre de la empresa|razón social|cliente|
nombre del cliente|
name|nom|nombre
"""
_USER_NAME = """
first user|user name|name of the user|user|contact person|contact name|contact|person|owner|
owner name|full name|
erster benutzer|benutzername|name des benutzers|benutzer|ansprechpartner|ansprechpartnerin|
kontaktperson|kontakt|inhaber|inhaberin|
premier utilisateur|nom de l’utilisateur|nom d’utilisateur|utilisateur|personne de contact|
interlocuteur|interlocutrice|propriétaire|
primer usuario|nombre del usuario|nombre de usuario|usuario|persona de contacto|contacto|
propietario|propietaria|
name|nom|nombre
"""
_NAMES = {
    "timezone": _TIMEZONE,
    "country": _COUNTRY,
    "email": EMAIL,
    "name": _NAME,
    "user_name": f"{_USER_NAME}|{FULL_NAME}",
}
"""Parts and names are in the order in which columns are claimed: of two columns Name and Company,
Company is the organization."""
_WORDS = {
    "timezone": "time zone|timezone|tz|zeitzone|fuseau|zona horaria|huso",
    "country": "country|land|pays|país|region|région|región",
    "email": "email|e-mail|mail|courriel|correo",
    "name": "organization|organisation|company|business|customer|firma|unternehmen|entreprise|"
    "société|organización|empresa|name|nom|nombre",
    "user_name": "user|person|contact|owner|benutzer|ansprechpartner|utilisateur|usuario|contacto|"
    "name|nom|nombre",
}
"""Words in unknown names, in the same order."""


def columns_of(header: Sequence[str]) -> dict[str, int]:
    """Return the position of the column of each part of a customer that has one. Known names go
    before words in other names."""
    positions: dict[str, int] = {}
    letters = [plain(head) for head in header]
    for part, names in _NAMES.items():
        _claim(
            positions, part, [at for name in _split(names) for at in _equal(letters, plain(name))]
        )
    words = ["" if may_be_phone(head) else f" {words_of(head)} " for head in header]
    for part, known in _WORDS.items():
        if part not in positions:
            among = [f" {words_of(each)} " for each in _split(known)]
            _claim(
                positions, part, [at for each in among for at, of in enumerate(words) if each in of]
            )
    return positions


def _split(names: str) -> list[str]:
    return [name for name in names.replace("\n", "").split("|") if name]


def _equal(letters: Sequence[str], name: str) -> list[int]:
    return [at for at, each in enumerate(letters) if each == name]


def _claim(positions: dict[str, int], part: str, columns: Sequence[int]) -> None:
    """Give the part the first of the columns that no other part has."""
    free = [at for at in columns if at not in positions.values()]
    if free:
        positions[part] = free[0]
