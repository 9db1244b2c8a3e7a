"""Why a file cannot be read: a stable code and a sentence that says what to do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from app.errors import ValidationFailed
from app.services.imports.kinds import REFUSALS


class UnreadableFile(ValidationFailed):
    """The whole file is refused; ``row`` names the place where that is known, ``sheets`` those of
    a workbook that could be read in place of the one that was."""

    sheets: tuple[str, ...] = ()

    def __init__(self, code: str, *, row: int | None = None, **facts: object):
        sentence = REFUSALS[code].format(row=row, **facts)
        super().__init__(sentence.replace("Row None", "A row"), code)
        self.row = row

    @classmethod
    def told(cls, code: str, row: int | None, message: str) -> Self:
        """A refusal that has been put into words before."""
        error = cls.__new__(cls)
        ValidationFailed.__init__(error, message, code)
        error.row = row
        return error


@contextmanager
def reading_one_of(sheets: Sequence[str]) -> Iterator[None]:
    """What is refused in here is one of these sheets."""
    try:
        yield
    except UnreadableFile as refused:
        refused.sheets = tuple(sheets)
        raise
