"""Names of the columns of a file of organizations, in the portal's languages."""

from collections.abc import Sequence

from app.contact_files.column_names import EMAIL, FULL_NAME
from app.contact_files.columns_by_heading import (
    ORGANIZATION,
    ORGANIZATION_WORDS,
    columns_by_heading,
)

_TIMEZONE = "time zone|timezone|tz|zeitzone|fuseau horaire|fuseau|zona horaria|huso horario"
_COUNTRY = """
country|country code|country name|land|ländercode|staat|pays|code pays|país|código de país|
código del país|region|région|región
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
    "name": f"{ORGANIZATION}|name|nom|nombre",
    "user_name": f"{_USER_NAME}|{FULL_NAME}",
}
"""Parts and names are in the order in which columns are claimed: of two columns Name and Company,
Company is the organization."""
_WORDS = {
    "timezone": "time zone|timezone|tz|zeitzone|fuseau|zona horaria|huso",
    "country": "country|land|pays|país|region|région|región",
    "email": "email|e-mail|mail|courriel|correo",
    "name": f"{ORGANIZATION_WORDS}|name|nom|nombre",
    "user_name": "user|person|contact|owner|benutzer|ansprechpartner|utilisateur|usuario|contacto|"
    "name|nom|nombre",
}
"""Words in unknown names, in the same order."""


def columns_of(header: Sequence[str]) -> dict[str, int]:
    """Return the position of the column of each part of an organization that has one."""
    return columns_by_heading(header, _NAMES, _WORDS)
