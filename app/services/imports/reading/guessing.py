"""Which encoding a text without a mark is likeliest in: the one in which it is words.

All files from Western Europe keep being read as such: another encoding has to make more words of
those that it reads otherwise.
"""

import re
from collections.abc import Iterable

from app.services.imports.reading.words import (
    CENTRAL,
    CYRILLIC,
    GREEK,
    JAPANESE,
    KOREAN,
    LONGEST,
    SIMPLIFIED,
    TRADITIONAL,
    TURKISH,
    WESTERN,
    Family,
    Verdict,
    core,
)

_ONE_BYTE = {
    "cp1252": WESTERN,
    "mac_roman": WESTERN,
    "cp850": WESTERN,
    "cp1250": CENTRAL,
    "iso8859-2": CENTRAL,
    "cp1254": TURKISH,
    "cp1251": CYRILLIC,
    "koi8-r": CYRILLIC,
    "cp866": CYRILLIC,
    "cp1253": GREEK,
}
_TWO_BYTES = {"cp949": KOREAN, "gb18030": SIMPLIFIED, "big5": TRADITIONAL, "cp932": JAPANESE}
"""Of equally good ones the first is taken."""
_FROM_THE_WEST = ("cp1252", "mac_roman", "cp850")
_MOST = 32 * 1024
_LEAST_WORDS = 0.6
_LEAST_LATIN_WORDS = 0.75
_MARGIN = 0.2
_TOKEN = re.compile("[^\x00-\x40\\[-`{-\x7f]+")
_TOKEN_BYTES = re.compile(rb"[A-Za-z\x80-\xff]+")


class Sample:
    """The first lines of a text that are not plain ASCII, up to 32 KiB of them."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> None:
        """Takes lines of the next piece of the text as long as there is room."""
        if self._size >= _MOST:
            return
        for line in chunk.splitlines():
            if not line.isascii():
                self._lines.append(line[:_MOST])
                self._size += len(line)
                if self._size >= _MOST:
                    return

    def likeliest(self) -> str:
        """Python's name of the encoding."""
        data = b"\n".join(self._lines)
        tokens = [token for token in set(_TOKEN_BYTES.findall(data)) if not token.isascii()]
        read = {name: [token.decode(name, "replace") for token in tokens] for name in _ONE_BYTE}
        verdicts = {name: _judged(read[name], family) for name, family in _ONE_BYTE.items()}
        shares = {name: _share(verdicts[name], family) for name, family in _ONE_BYTE.items()}
        for name, family in _TWO_BYTES.items():
            found = set(_TOKEN.findall(data.decode(name, "replace")))
            words = [word for word in found if not word.isascii()]
            shares[name] = _share(_judged(words, family), family)
        western = max(_FROM_THE_WEST, key=shares.__getitem__)
        other = max((name for name in shares if name not in _FROM_THE_WEST), key=shares.__getitem__)
        is_latin = _ONE_BYTE.get(other) in (CENTRAL, TURKISH)
        if shares[other] < (_LEAST_LATIN_WORDS if is_latin else _LEAST_WORDS):
            return western
        if other in _TWO_BYTES:
            return other if shares[other] - shares[western] >= _MARGIN else western
        gains = [
            bool(here) - bool(there)
            for here, there, word, same in zip(
                verdicts[other], verdicts[western], read[other], read[western], strict=True
            )
            if word != same and here is not None and there is not None
        ]
        return other if gains and sum(gains) >= _MARGIN * len(gains) else western


def _judged(words: Iterable[str], family: Family) -> list[Verdict]:
    cores = map(core, words)
    return [family.judge(word) if 1 < len(word) <= LONGEST else None for word in cores]


def _share(verdicts: Iterable[Verdict], family: Family) -> float:
    """How much of the text is words, in any language and a little in the one that has most."""
    told = [verdict for verdict in verdicts if verdict is not None]
    if not told:
        return 0.0
    in_one = max(sum(word >> bit & 1 for word in told) for bit in range(family.languages))
    return (0.8 * sum(map(bool, told)) + 0.2 * in_one) / len(told)
