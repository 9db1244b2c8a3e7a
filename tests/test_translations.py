"""Each catalogue holds every message of code and templates, translated."""

import ast
import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Message

from app.config import ROOT
from app.languages import LANGUAGES
from scripts.catalogues import TRANSLATED, read, used_messages

MARKS = re.compile(r"%\(\w+\)[sd]|%%|</?\w+|\bhref=\"[^\"]*\"|⟦|⟧")
"""What a translation repeats: placeholders, tags and links."""
NAMED_BUTTON = re.compile(
    r"""<(?:a|button)\b[^<]*?aria-label="\{\{ _\((["'])(?P<name>[^{}]*?)\1[^{}]*?\) \}\}"""
    r""""[^<]*?>\s*"""
    r"""(?:\{\{ icon\([^}]*\) \}\}\s*)?\{\{ _\((["'])(?P<seen>[^{}]*?)\3[^{}]*?\) \}\}""",
    re.DOTALL,
)
"""A link or button in a template with a name of its own and a word on it."""
MAX_GROWTH = 2.5
"""Maximum length of a button's word relative to English, for buttons that phones show."""

MARKED = {"gettext", "lazy_gettext", "ngettext"}
"""The functions whose first argument is a message without a context."""

Key = tuple[str | None, str | tuple[str, ...]]


def key_of(message: Message) -> Key:
    words = message.id
    return message.context, tuple(words) if isinstance(words, list | tuple) else words


def forms(words: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    return (words or "",) if isinstance(words, str | None) else tuple(words)


def translations(code: str) -> Iterator[tuple[Message, str, str]]:
    """Each message with the English words and the translated ones, form by form."""
    for message in read(code):
        if not message.id:
            continue
        english, translated = forms(message.id), forms(message.string)
        for index, words in enumerate(translated):
            yield message, english[min(index, len(english) - 1)], words


def test_a_catalogue_for_each_language_but_english() -> None:
    assert set(TRANSLATED) == set(LANGUAGES) - {"en"}


def test_each_catalogue_holds_the_messages_that_are_used_and_no_others() -> None:
    used = {key_of(message) for message in used_messages() if message.id}
    for code in TRANSLATED:
        known = {key_of(message) for message in read(code) if message.id}
        assert (code, used - known, known - used) == (code, set(), set())


def marked_words() -> Iterator[tuple[str, str]]:
    """The file and the message of each call in the code that translates a constant."""
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MARKED:
                words = node.args[0]
                if isinstance(words, ast.Constant):
                    yield path.name, str(words.value)


def test_the_translators_get_each_message_of_the_code() -> None:
    """What collects the messages doesn't look into f-strings, such as those that join sentences."""
    collected = {forms(message.id)[0] for message in used_messages()}
    marked = list(marked_words())
    assert len(marked) > 1000
    assert [each for each in marked if each[1] not in collected] == []


def test_a_block_of_text_to_translate_is_on_one_line() -> None:
    """The catalogue joins its lines, a page does not: it would look for another message."""
    blocks = [
        (path.name, text.strip())
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for text in re.findall(r"{%-? trans\b.*?%}(.*?){%-? endtrans", path.read_text(), re.DOTALL)
    ]
    assert blocks
    assert [block for block in blocks if "\n" in block[1]] == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_each_message_is_translated_and_none_is_a_guess(code: str) -> None:
    missing = [message.id for message, _english, words in translations(code) if not words]
    fuzzy = [message.id for message in read(code) if message.id and message.fuzzy]
    assert (missing, fuzzy, len(read(code).obsolete)) == ([], [], 0)


@pytest.mark.parametrize("code", TRANSLATED)
def test_placeholders_tags_and_surrounding_spaces_equal_those_of_the_english_text(
    code: str,
) -> None:
    wrong = []
    for message, english, words in translations(code):
        own, theirs = set(MARKS.findall(english)), set(MARKS.findall(words))
        is_plural = not isinstance(message.id, str)
        same = own == theirs or (is_plural and theirs <= own | {"%(num)s"})
        around = words[:1].isspace() == english[:1].isspace()
        if not (same and around and words[-1:].isspace() == english[-1:].isspace()):
            wrong.append((english, words))
    assert wrong == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_a_translation_can_be_formatted(code: str) -> None:
    wrong = []
    for _message, english, words in translations(code):
        given = dict.fromkeys(re.findall(r"%\((\w+)\)", english), "1") | {"num": "1"}
        try:
            words % given
        except (KeyError, ValueError, TypeError):
            wrong.append((english, words))
    assert wrong == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_the_name_of_a_button_contains_the_word_on_it(code: str) -> None:
    """Users who speak to their computer say what they see (WCAG 2.5.3)."""
    words = {message.id: message.string for message in read(code) if isinstance(message.id, str)}
    named = {
        (found["name"], found["seen"])
        for path in (ROOT / "templates").rglob("*.html")
        for found in NAMED_BUTTON.finditer(path.read_text())
    }
    assert len(named) > 10
    apart = [pair for pair in sorted(named) if plain(words[pair[1]]) not in plain(words[pair[0]])]
    assert apart == []


def plain(words: object) -> str:
    """The words without an ellipsis, in small letters."""
    return " ".join(str(words).replace("…", " ").split()).lower()


@pytest.mark.parametrize("code", TRANSLATED)
def test_short_words_stay_short(code: str) -> None:
    """Buttons, heads of columns and entries of the sidebar have little room."""
    longest = [
        (english, words)
        for _message, english, words in translations(code)
        if len(english) <= 12 and len(words) > max(MAX_GROWTH * len(english), 24)
    ]
    assert longest == []
