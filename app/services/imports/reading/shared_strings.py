"""The texts that the cells of a workbook share."""

from app.services.imports.reading.errors import UnreadableFile
from app.services.imports.reading.guard import unguard_cell
from app.services.imports.reading.ooxml import local, parser, unescaped
from app.services.imports.reading.table import Limits


class SharedStrings:
    """Feed ``parser`` with the part; ``found`` are its texts in order.

    Phonetic readings beside them are left out.
    """

    def __init__(self, limits: Limits):
        self.found: list[str] = []
        self._longest = limits.cell
        self._text: list[str] = []
        self._size = 0
        self._keep = self._phonetic = False
        self.parser = parser()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _start(self, tag: str, _: dict[str, str]) -> None:
        name = local(tag)
        if name == "rPh":
            self._phonetic = True
        self._keep = name == "t" and not self._phonetic

    def _end(self, tag: str) -> None:
        name = local(tag)
        self._keep = False
        if name == "rPh":
            self._phonetic = False
        elif name == "si":
            self.found.append(unguard_cell(unescaped("".join(self._text))))
            self._text, self._size = [], 0

    def _characters(self, data: str) -> None:
        if self._keep:
            self._text.append(data)
            self._size += len(data)
            if self._size > self._longest:
                raise UnreadableFile("field_too_long", limit=self._longest)
