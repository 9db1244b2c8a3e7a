"""Read the container of a workbook, a zip of XML parts, without trusting it.

Sizes are checked before anything is unpacked, and no part may declare a document type, so neither a
zip bomb nor an entity bomb reaches the reader.
"""

import lzma
import posixpath
import re
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from app.contact_files.errors import UnreadableFile
from app.contact_files.table import FileLimits

CHUNK = 64 * 1024
_ESCAPED = re.compile(r"_x(?!D[89A-F])([0-9A-F]{4})_", re.IGNORECASE)
_PACKED_TIGHTLY = 200
"""Maximum unpacked bytes per packed byte: sheets of real lists reach 10 to 60."""
_SMALL = 16 * 1024 * 1024
_ENCRYPTED = 0x1
_BROKEN_ARCHIVE = (
    *(BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(RuntimeError, ValueError, KeyError),
)
"""Errors of the standard library for damaged archives; NotImplementedError is a RuntimeError."""
_BROKEN_XML = (expat.ExpatError, ValueError, LookupError)


class XmlElement(NamedTuple):
    """The start of one element: local names, without namespaces."""

    name: str
    parent: str
    attributes: dict[str, str]


def parser() -> expat.XMLParserType:
    """Return an XML parser that refuses document types; names come as ``namespace local``."""
    xml_parser = expat.ParserCreate(namespace_separator=" ")
    xml_parser.buffer_text = True
    xml_parser.buffer_size = CHUNK

    def refuse(*_: object) -> None:
        raise UnreadableFile("unsafe_workbook")

    xml_parser.StartDoctypeDeclHandler = refuse
    return xml_parser


def local_name(name: str) -> str:
    """Return the name without its namespace."""
    return name.rpartition(" ")[2]


def unescaped(text: str) -> str:
    """Return the text of a cell; section 22.9.2.19: ``_x000D_`` is a line break that XML would
    change."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


class XlsxPackage:
    """An open archive whose parts are found by their relationships."""

    def __init__(self, stream: BinaryIO, limits: FileLimits):
        try:
            self._zip = ZipFile(stream)
        except _BROKEN_ARCHIVE:
            raise UnreadableFile("unreadable_workbook") from None
        infos = self._zip.infolist()
        self._infos = {_part_name(info.filename): info for info in infos}
        self.names = self._infos.keys()
        if any(info.flag_bits & _ENCRYPTED for info in infos):
            raise UnreadableFile("password_protected")
        unpacked = sum(info.file_size for info in infos)
        packed = sum(info.compress_size for info in infos)
        if unpacked > limits.unpacked or (
            unpacked > 4 * _SMALL and unpacked > packed * _PACKED_TIGHTLY
        ):
            raise UnreadableFile("zip_bomb")

    def parse(self, name: str, xml_parser: expat.XMLParserType) -> Iterator[None]:
        """Feed a part to a parser chunk by chunk; what was found so far can be taken after each."""
        for chunk in self._chunks(name):
            _feed(xml_parser, chunk, last=False)
            yield
        _feed(xml_parser, b"", last=True)

    def _chunks(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(self._infos[name]) as part:
                while chunk := part.read(CHUNK):
                    yield chunk
        except _BROKEN_ARCHIVE:
            raise UnreadableFile("unreadable_workbook") from None

    def elements(self, name: str) -> Iterator[XmlElement]:
        """Yield every element of a small part, in order."""
        xml_parser = parser()
        elements: list[XmlElement] = []
        path = [""]

        def start(tag: str, attributes: dict[str, str]) -> None:
            plain = {local_name(key): value for key, value in attributes.items()}
            elements.append(XmlElement(local_name(tag), path[-1], plain))
            path.append(local_name(tag))

        xml_parser.StartElementHandler = start
        xml_parser.EndElementHandler = lambda _: path.pop()
        for _ in self.parse(name, xml_parser):
            yield from elements
            elements.clear()

    def content_types(self, name: str) -> list[str]:
        """Return the content types that the archive declares for a part."""
        part = "[content_types].xml"
        declared = self.elements(part) if part in self.names else ()
        return [
            element.attributes.get("ContentType", "")
            for element in declared
            if _part_name(element.attributes.get("PartName", "")).lstrip("/") == name
        ]

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the parts that a part refers to: id -> (kind, part name)."""
        folder, base = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{base}.rels")
        if relations not in self.names:
            return {}
        return {
            element.attributes.get("Id", ""): (
                element.attributes.get("Type", "").rpartition("/")[2],
                _resolve(folder, element.attributes.get("Target", "")),
            )
            for element in self.elements(relations)
            if element.name == "Relationship"
        }


def _part_name(name: str) -> str:
    """Return a part's name in lower case with slashes: case doesn't count, and some programs write
    backslashes."""
    return name.replace("\\", "/").lower()


def _resolve(folder: str, target: str) -> str:
    target = _part_name(target)
    if target.startswith("/"):
        return target[1:]
    return posixpath.normpath(posixpath.join(folder, target))


def _feed(xml_parser: expat.XMLParserType, chunk: bytes, *, last: bool) -> None:
    try:
        xml_parser.Parse(chunk, last)
    except _BROKEN_XML:
        raise UnreadableFile("unreadable_workbook") from None
