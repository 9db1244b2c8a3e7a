"""Find the columns of a table by their headings, as users write them in the portal's languages."""

from collections.abc import Mapping, Sequence

from app.contact_files.column_names import may_be_phone, normalized_name, words_of

ORGANIZATION = """
organization|organization name|organisation|organisation name|company|company name|business|
business name|customer|customer name|client|client name|
organisationsname|name der organisation|firma|firmenname|name der firma|unternehmen|
unternehmensname|betrieb|kunde|kundenname|
nom de l’organisation|entreprise|nom de l’entreprise|société|nom de la société|raison sociale|
nom du client|
organización|nombre de la organización|empresa|nombre de la empresa|razón social|cliente|
nombre del cliente
"""
ORGANIZATION_WORDS = (
    "organization|organisation|company|business|customer|firma|unternehmen|entreprise|société|"
    "organización|empresa"
)


def columns_by_heading(
    header: Sequence[str], names: Mapping[str, str], words: Mapping[str, str]
) -> dict[str, int]:
    """Return the position of the column of each part that has one: of ``names``, separated by |,
    the first that is a heading; otherwise the first of ``words`` in a heading. Earlier parts claim
    their columns first."""
    positions: dict[str, int] = {}
    headings = [normalized_name(heading) for heading in header]
    for part, known_names in names.items():
        for name in _split(known_names):
            _claim(positions, part, [heading == normalized_name(name) for heading in headings])
    spaced = ["" if may_be_phone(heading) else f" {words_of(heading)} " for heading in header]
    for part, known_words in words.items():
        for word in _split(known_words):
            _claim(positions, part, [f" {words_of(word)} " in heading for heading in spaced])
    return positions


def _split(names: str) -> list[str]:
    return [name for name in names.replace("\n", "").split("|") if name]


def _claim(positions: dict[str, int], part: str, matches: Sequence[bool]) -> None:
    """Give the part, unless it has a column, the first match that no other part has."""
    free = [at for at, matched in enumerate(matches) if matched and at not in positions.values()]
    if free:
        positions.setdefault(part, free[0])
