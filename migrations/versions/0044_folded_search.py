"""Search and sort names without accents."""

import unicodedata
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from alembic import op

revision: str = "0044"
down_revision: str | Sequence[str] | None = "0043"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LENGTH = 200
AT_A_TIME = 1000
SORTED = ("organizations", "agents", "campaigns")
"""These have a key already: the name in lower case."""
NEW = ("partners", "api_keys", "oauth_clients")
SEARCHED = {
    "organizations": ("name", "referral_code", "referred_by_code"),
    "users": ("email", "name"),
}
LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n"}
    | {"æ": "ae", "œ": "oe", "þ": "th"}
)
ACCENTS = dict.fromkeys(range(0x300, 0x370))


def fold(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text).casefold().translate(ACCENTS)
    return unicodedata.normalize("NFC", apart.translate(LETTERS))


def upgrade() -> None:
    for table in NEW:
        key = sa.Column("name_key", sa.String(LENGTH), nullable=False, server_default="")
        op.add_column(table, key)
    for table in (*SORTED, *NEW):
        _fill(table, "name_key", ("name",), lambda values: fold(values[0])[:LENGTH])
    for table, columns in SEARCHED.items():
        op.add_column(
            table, sa.Column("search_words", sa.Text(), nullable=False, server_default="")
        )
        _fill(table, "search_words", columns, _lines)
    op.add_column(
        "contacts", sa.Column("search_name", sa.Text(), nullable=False, server_default="")
    )
    _fill_contacts()
    _index_names("search_words")


def _lines(values: Sequence[str | None]) -> str:
    return "\n".join(fold(value) for value in values if value)


def _fill(name: str, target: str, columns: Sequence[str], folded: Any) -> None:
    table = sa.table(name, *(sa.column(each) for each in ("id", target, *columns)))
    change = (
        sa.update(table)
        .where(table.c.id == sa.bindparam("row"))
        .values({target: sa.bindparam("words")})
    )
    connection = op.get_bind()
    rows = connection.execute(sa.select(table.c.id, *(table.c[each] for each in columns))).all()
    for start in range(0, len(rows), AT_A_TIME):
        part = rows[start : start + AT_A_TIME]
        connection.execute(change, [{"row": row[0], "words": folded(row[1:])} for row in part])


def _fill_contacts() -> None:
    """The database itself folds ASCII names, which are nearly all."""
    connection = op.get_bind()
    both = "' ' || coalesce(first_name, '') || ' ' || coalesce(last_name, '')"
    op.execute(f"UPDATE contacts SET search_name = lower({both})")  # noqa: S608 - constants
    is_plain = "NOT GLOB '*[^ -~]*'" if connection.dialect.name == "sqlite" else "~ '^[ -~]*$'"
    others = sa.text(f"SELECT id, search_name FROM contacts WHERE NOT (search_name {is_plain})")  # noqa: S608 - constants
    change = sa.text("UPDATE contacts SET search_name = :words WHERE id = :row")
    rows = connection.execute(others).all()
    for start in range(0, len(rows), AT_A_TIME):
        part = rows[start : start + AT_A_TIME]
        connection.execute(change, [{"row": row.id, "words": fold(row[1])} for row in part])


def _index_names(column: str) -> None:
    """Fill the indexes of SQLite again. PostgreSQL's index of the names in lower case stays."""
    if op.get_bind().dialect.name != "sqlite":
        return
    for table, columns in SEARCHED.items():
        _fill_index(table, column, columns)


def _fill_index(name: str, column: str, columns: Sequence[str]) -> None:
    connection = op.get_bind()
    connection.execute(sa.text(f"DELETE FROM {name}_names"))  # noqa: S608 - constants
    write = sa.text(f"INSERT INTO {name}_names (rowid, id, words) VALUES (:row, :id, :words)")  # noqa: S608 - constants
    names = [column] if column else columns
    rows = connection.execute(sa.select(sa.table(name, *map(sa.column, ["id", *names])))).all()
    for start in range(0, len(rows), AT_A_TIME):
        connection.execute(
            write,
            [
                {
                    "row": UUID(row.id).int & (1 << 63) - 1,
                    "id": row.id,
                    "words": "\n".join(
                        value if column else value.lower() for value in row[1:] if value
                    ),
                }
                for row in rows[start : start + AT_A_TIME]
            ],
        )


def downgrade() -> None:
    for table in SORTED:
        _fill(table, "name_key", ("name",), lambda values: values[0].lower()[:LENGTH])
    for table in NEW:
        op.drop_column(table, "name_key")
    _index_names("")
    for table in SEARCHED:
        op.drop_column(table, "search_words")
    op.drop_column("contacts", "search_name")
