"""The catalogues of translations: ``app/translations/LANGUAGE/LC_MESSAGES/messages.po``.

``python -m scripts.catalogues update`` adds the messages of code and templates that are not in them
and removes those that are no longer used; ``compile`` writes the files that the portal reads.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from app.languages import DEFAULT, FOLDER, LANGUAGES

ROOT = Path(__file__).resolve().parent.parent
TRANSLATED = [code for code in LANGUAGES if code != DEFAULT]
METHODS = [("**.py", "python"), ("**.html", "jinja2"), ("**.txt", "jinja2"), ("**.typ", "jinja2")]
JINJA = {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_noop": None,
    "lazy_gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "lazy_pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}

Extracted = tuple[str, int, str | tuple[str, ...], list[str], str | None]


def path_of(code: str) -> Path:
    return FOLDER / code / "LC_MESSAGES" / "messages.po"


def used_messages() -> Catalog:
    """Return the messages of code and templates."""
    catalog = Catalog()
    for folder in ("app", "templates"):
        for name, _line, message, comments, context in _extract(ROOT / folder):
            locations = [(f"{folder}/{name}", 1)]
            catalog.add(message, locations=locations, auto_comments=comments, context=context)
    return catalog


def _extract(folder: Path) -> Iterator[Extracted]:
    """Return for each message its file, line, words, comments and context."""
    yield from extract_from_dir(
        folder,
        method_map=METHODS,
        options_map={f"**.{suffix}": JINJA for suffix in ("html", "txt", "typ")},
        keywords=KEYWORDS,
        comment_tags=("Translators:",),
        strip_comment_tags=True,
    )


def read(code: str) -> Catalog:
    with path_of(code).open("rb") as file:
        return read_po(file, locale=code)


def _is_translated(message: Message) -> bool:
    """Return whether the message has its translation, in each of its forms if it has several."""
    translation = message.string or ""
    return all([translation] if isinstance(translation, str) else translation)


def update() -> None:
    """Write each catalogue with the messages that are used now, sorted, without fuzzy guesses."""
    used = used_messages()
    for code in TRANSLATED:
        path = path_of(code)
        catalogue = read(code) if path.exists() else Catalog(locale=code)
        catalogue.update(used, no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, catalogue, 100, omit_header=True, sort_output=True, include_lineno=False)
        missing = [
            message.id for message in catalogue if message.id and not _is_translated(message)
        ]
        print(f"{path.relative_to(ROOT)}: {len(catalogue)} messages, {len(missing)} not translated")
        for message in missing:
            print(f"  {message}")


def compile_all() -> None:
    for code in TRANSLATED:
        with path_of(code).with_suffix(".mo").open("wb") as file:
            write_mo(file, read(code))


if __name__ == "__main__":
    {"update": update, "compile": compile_all}[sys.argv[1]]()
