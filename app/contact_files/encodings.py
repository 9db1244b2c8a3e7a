"""Find the encoding of a text file, from all of its bytes."""

import codecs
import io
import re
from typing import BinaryIO, NamedTuple

from app.contact_files.encoding_guess import EncodingSample
from app.contact_files.errors import UnreadableFile

CHUNK = 256 * 1024

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNDEFINED_IN_1252 = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
_CONTROLS = bytes({*range(1, 32), 127} - set(b"\t\n\r\x0b\x0c\x1a"))
_STRAY = 10
"""Maximum control characters in any text: they are reported where they are. A text that is entirely
UTF-8 may have many more, one in each of its short rows."""
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH = re.compile(rb"[\x80-\xff]")


class TextEncoding(NamedTuple):
    """Python's name of the encoding, whether it was guessed, and whether the text may have bytes
    that don't belong to it (they are read as lone surrogates)."""

    name: str
    guessed: bool = False
    damaged: bool = False


class _ByteScan:
    """The findings of one pass over all bytes."""

    def __init__(self, stream: BinaryIO):
        self.size = self.controls = 0
        self.nul = False
        self.utf8 = True
        decoder = codecs.getincrementaldecoder("utf-8")()
        stream.seek(0)
        while chunk := stream.read(CHUNK):
            self.size += len(chunk)
            self.nul = self.nul or b"\0" in chunk
            self.controls += len(chunk) - len(chunk.translate(None, _CONTROLS))
            if self.utf8:
                self.utf8 = _can_decode(decoder, chunk)
        self.utf8 = self.utf8 and _can_decode(decoder, b"", final=True)


def _can_decode(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _guess_encoding(stream: BinaryIO) -> TextEncoding:
    """Find the encoding of text that is not UTF-8 throughout: damaged UTF-8, or no byte
    order mark."""
    multibyte = single = 0
    undefined = False
    sample = EncodingSample()
    stream.seek(0)
    while chunk := stream.read(CHUNK):
        if chunk.isascii():
            continue
        remainder, replaced = _MULTIBYTE.subn(b"", chunk)
        multibyte += replaced
        single += len(_HIGH.findall(remainder))
        sample.add(chunk)
        undefined = undefined or len(chunk.translate(None, _UNDEFINED_IN_1252)) < len(chunk)
    if multibyte > 4 * single:
        return TextEncoding("utf-8", damaged=True)
    name = sample.likeliest()
    if name == "cp1252":
        return TextEncoding("latin-1" if undefined else name, guessed=True)
    return TextEncoding(name, guessed=True, damaged=not _is_encoded_as(stream, name))


def _is_encoded_as(stream: BinaryIO, name: str) -> bool:
    """Return whether all bytes of the text belong to the encoding."""
    decoder = codecs.getincrementaldecoder(name)()
    stream.seek(0)
    while chunk := stream.read(CHUNK):
        if not _can_decode(decoder, chunk):
            return False
    return _can_decode(decoder, b"", final=True)


def detect(stream: BinaryIO, requested: str | None) -> TextEncoding:
    """Return the encoding of the text. Raises UnreadableFile if it isn't text.

    A byte order mark decides; else UTF-16 by its pattern of NULs, UTF-8 if (nearly) all bytes
    agree. Otherwise it is a guess: the encoding in which most of the text is words, Latin-1 if that
    is Windows-1252 without its own characters.
    """
    stream.seek(0)
    head = stream.read(CHUNK)
    if not head.strip(b" \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise UnreadableFile("empty_file")
    if requested:
        return _as_requested(stream, requested)
    name = next((name for bom, name in _BOMS if head.startswith(bom)), None) or _detect_utf16(head)
    if name and name != "utf-8-sig":
        return _as_requested(stream, name)
    scan = _ByteScan(stream)
    if scan.nul:
        raise UnreadableFile("nul_bytes" if scan.controls * 100 < scan.size else "not_text")
    if scan.controls > _STRAY and scan.controls * (5 if scan.utf8 else 50) > scan.size:
        raise UnreadableFile("not_text")
    if scan.utf8 or name:
        return TextEncoding(name or "utf-8", damaged=not scan.utf8)
    return _guess_encoding(stream)


def _detect_utf16(head: bytes) -> str | None:
    """Detect UTF-16 without a mark: every other byte of Latin text is NUL."""
    sample = head[: 4096 - len(head) % 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > half * 0.6 and even < half * 0.05:
        return "utf-16-le"
    if even > half * 0.6 and odd < half * 0.05:
        return "utf-16-be"
    return None


def _as_requested(stream: BinaryIO, name: str) -> TextEncoding:
    """Check that all of the text is in this encoding."""
    try:
        "".encode(name)  # also refuses codecs that aren't text encodings
        decoder = codecs.getincrementaldecoder(name)()
    except LookupError:
        raise UnreadableFile("encoding_unknown", encoding=name) from None
    stream.seek(0)
    try:
        while chunk := stream.read(CHUNK):
            if "\0" in decoder.decode(chunk):
                raise UnreadableFile("nul_bytes")
        decoder.decode(b"", final=True)
    except UnicodeError:
        raise UnreadableFile("undecodable_text", encoding=name) from None
    return TextEncoding(name)


def text_of(stream: BinaryIO, encoding: TextEncoding) -> io.TextIOWrapper:
    """Return the decoded text from its first character, line ends unchanged; detach it when
    done."""
    stream.seek(0)
    errors = "surrogateescape" if encoding.damaged else "strict"
    return io.TextIOWrapper(stream, encoding=encoding.name, errors=errors, newline="")
