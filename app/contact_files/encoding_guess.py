"""Guess an encoding: by how much of a text would be words in it.

In a wrong encoding, names have symbols inside them, capitals after small letters, or letters that
no language combines: ``Wójcik`` is possible, ``Dvoøák`` and ``Ðåòð`` are not.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

MAX_WORD_LENGTH = 40
"""Maximum characters of a word that are judged."""
_OPENING = "\u2018\u2019\u201a\u201c\u201e\u00ab\u2013\u2014\u2022\u00a7\u20ac\u00a0"
_CLOSING = "\u2019\u201c\u201d\u00bb\u2026\u00ae\u2122\u00a9\u00ba\u00aa\u00b0\u20ac\u00a0"
_NARROW_KANA = re.compile("[\uff61-\uff9f]")
_BEFORE_VOWEL = "(?=[aeiouáéíóú])"

Verdict = int | None
"""One bit for each language that could have the word; None if it says nothing."""
Judge = Callable[[str], Verdict]


class EncodingFamily(NamedTuple):
    """The languages that are written in the same encodings."""

    languages: int
    judge: Judge


def without_symbols(token: str) -> str:
    """Return the token without the quotation marks and symbols around it."""
    return token.lstrip(_OPENING).rstrip(_CLOSING)


def _is_cased(word: str) -> bool:
    """Return whether a word is cased like Ann, ANN, ann or McDonald: a capital inside is not
    accented and follows no accented letter."""
    if word.islower() or word.isupper():
        return True
    head, tail = word[0], word[1:]
    if head.islower() and tail.isupper():
        return False
    return not any(
        after.isupper() and before.islower() and not (before + after).isascii()
        for before, after in zip(word, tail, strict=False)
    )


def _of_letters(*languages: str) -> EncodingFamily:
    """Return languages of Latin letters, each by the form of its words in small letters."""
    forms = [re.compile(language) for language in languages]

    def judge(word: str) -> int:
        if word.isascii():
            return (1 << len(forms)) - 1
        if not _is_cased(word):
            return 0
        small = word.lower().replace("\u2019", "")
        return sum(1 << bit for bit, form in enumerate(forms) if form.fullmatch(small))

    return EncodingFamily(len(forms), judge)


def _of_script(letters: str, common: str) -> EncodingFamily:
    """Return a script that is not mixed with others; ``common`` are its most frequent letters."""
    every, frequent = frozenset(letters), frozenset(common)

    def judge(word: str) -> int:
        small = word.lower()
        is_word = every.issuperset(small) and _is_cased(word)
        return int(is_word and sum(letter in frequent for letter in small) * 2 >= len(small))

    return EncodingFamily(1, judge)


def _judge_two_bytes(encoding: str, first: int, common_leads: range, word: str) -> int:
    """Return whether a word has two-byte characters from ``first`` on, half of them in everyday
    use."""
    try:
        data = word.encode(encoding)
    except UnicodeEncodeError:
        return 0
    leads = data[::2]
    if len(data) != 2 * len(word) or min(leads) < first:
        return 0
    return int(sum(lead in common_leads for lead in leads) * 2 >= len(word))


def _judge_korean(word: str) -> int:
    """Return whether a word has only Hangul syllables of names and places."""
    are_syllables = all("가" <= sign <= "힣" for sign in word)
    return int(are_syllables and _judge_two_bytes("euc_kr", 0xB0, range(0xB0, 0xC9), word))


def _judge_japanese(word: str) -> Verdict:
    """Return whether a word is kana, and kanji of which most are in everyday use. Narrow kana of
    old lists could be capitals of any other script."""
    wide = _NARROW_KANA.sub("", word)
    if not wide:
        return None
    common_count = sum(
        "\u3041" <= sign <= "\u30ff"
        or sign in "々〆ヶ－"
        or _judge_two_bytes("cp932", 0x88, range(0x88, 0x99), sign)
        for sign in wide
    )
    return int(common_count * 2 >= len(word))


WESTERN = _of_letters(
    "[a-zäöüßé]+",
    "(?:[a-zâçéêëîïôü]|û(?=[tlmnr]|ch)|ÿ|œ(?=[udt])|(?<=[a-z])è(?=[a-z])|[àù]$)+",
    f"(?:[a-zü]|ñ{_BEFORE_VOWEL})*[áéíóú]?(?:[a-zü]|ñ{_BEFORE_VOWEL})*",
    "[a-zçïü·]*(?:[àéíóòú]|(?<=[a-z])è)?[a-zçïü·]*",
    "(?:[a-záâàéêíóôúü]|ç(?=[aouãáâóôõ])|ã(?=[oes]|$)|õ(?=e))+",
    "[a-z]+[àèéìíòóùú]",
    "(?:[a-zåäöøéü]|(?<!i)æ)+",
    "(?:[a-zäöüšž]?õ)?[a-zäöüšž]+",
    "þ?(?:[a-záéíóúýöø]|(?<=.)ð|(?<!i)æ)+",
    "[a-zëïéèêöüóñç]+",
)
"""German, French, Spanish, Catalan, Portuguese, Italian, Nordic, Estonian, Icelandic, Dutch and
what English keeps of others."""
CENTRAL = _of_letters(
    "[a-ząćęłńóśźż]+",
    "[a-záčďéěíňóřšťúůýž]+",
    "[a-záäčďéíĺľňóôŕšťúýž]+",
    "[a-záéíóöőúüű]+",
    "[a-zčćđšž]+",
    "[a-zăâîşţ]+",
)
"""Polish, Czech, Slovak, Hungarian, Croatian with Slovenian, Romanian."""
TURKISH = _of_letters("[a-zçğıöşüâîi\u0307]+")
CYRILLIC = _of_script("абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґ\u2019", "оаеинтсрвлкіяь")
GREEK = _of_script("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", "αοιετσνηςρλ")
KOREAN = EncodingFamily(1, _judge_korean)
SIMPLIFIED = EncodingFamily(1, partial(_judge_two_bytes, "gb2312", 0xB0, range(0xB0, 0xD8)))
TRADITIONAL = EncodingFamily(1, partial(_judge_two_bytes, "big5", 0xA4, range(0xA4, 0xC7)))
JAPANESE = EncodingFamily(1, _judge_japanese)


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
"""Encodings of two-byte characters; the first of equally good ones wins."""
_FROM_THE_WEST = ("cp1252", "mac_roman", "cp850")
_MAX_BYTES = 32 * 1024
_MIN_WORDS = 0.6
_MIN_LATIN_WORDS = 0.75
_MARGIN = 0.2
_TOKEN = re.compile("[^\x00-\x40\\[-`{-\x7f]+")
_TOKEN_BYTES = re.compile(rb"[A-Za-z\x80-\xff]+")


class EncodingSample:
    """The first lines of a text that are not plain ASCII, up to 32 KiB of them."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> None:
        """Take lines of the next piece of the text while there is room."""
        if self._size >= _MAX_BYTES:
            return
        for line in chunk.splitlines():
            if not line.isascii():
                self._lines.append(line[:_MAX_BYTES])
                self._size += len(line)
                if self._size >= _MAX_BYTES:
                    return

    def likeliest(self) -> str:
        """Return Python's name of the encoding."""
        data = b"\n".join(self._lines)
        tokens = [token for token in set(_TOKEN_BYTES.findall(data)) if not token.isascii()]
        decoded = {name: [token.decode(name, "replace") for token in tokens] for name in _ONE_BYTE}
        verdicts = {name: _judge_words(decoded[name], family) for name, family in _ONE_BYTE.items()}
        shares = {name: _word_score(verdicts[name], family) for name, family in _ONE_BYTE.items()}
        for name, family in _TWO_BYTES.items():
            texts = set(_TOKEN.findall(data.decode(name, "replace")))
            words = [word for word in texts if not word.isascii()]
            shares[name] = _word_score(_judge_words(words, family), family)
        western = max(_FROM_THE_WEST, key=shares.__getitem__)
        rival = max((name for name in shares if name not in _FROM_THE_WEST), key=shares.__getitem__)
        is_latin = _ONE_BYTE.get(rival) in (CENTRAL, TURKISH)
        if shares[rival] < (_MIN_LATIN_WORDS if is_latin else _MIN_WORDS):
            return western
        if rival in _TWO_BYTES:
            return rival if shares[rival] - shares[western] >= _MARGIN else western
        gains = [
            bool(rival_verdict) - bool(western_verdict)
            for rival_verdict, western_verdict, word, same in zip(
                verdicts[rival], verdicts[western], decoded[rival], decoded[western], strict=True
            )
            if word != same and rival_verdict is not None and western_verdict is not None
        ]
        return rival if gains and sum(gains) >= _MARGIN * len(gains) else western


def _judge_words(words: Iterable[str], family: EncodingFamily) -> list[Verdict]:
    cores = map(without_symbols, words)
    return [family.judge(word) if 1 < len(word) <= MAX_WORD_LENGTH else None for word in cores]


def _word_score(verdicts: Iterable[Verdict], family: EncodingFamily) -> float:
    """Return how much of the text is words in any language, and a little how much is in one."""
    rated = [verdict for verdict in verdicts if verdict is not None]
    if not rated:
        return 0.0
    in_one = max(sum(word >> bit & 1 for word in rated) for bit in range(family.languages))
    return (0.8 * sum(map(bool, rated)) + 0.2 * in_one) / len(rated)
