"""The packages of the image are trimmed: what the portal reads of them is the same as before."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from app.config import ROOT
from scripts.trim_packages import trim

READ = """
from datetime import date
from babel.dates import get_day_names
from babel.numbers import format_decimal
from app import languages
from app.languages.dates import format_local_date
from app.languages.numbers import localize_number
from app.phone import number_regions, timezones
for tag in (*languages.LANGUAGES, "de-AT", "en-GB", "es-MX", "fr-CA"):
    name = tag.replace("-", "_")
    print(tag, dict(get_day_names(locale=name)), format_decimal(1234.5, locale=name))
    with languages.using_language(tag):
        print(format_local_date(date(2026, 11, 27), "yMMMM"), localize_number(1234.5, 1))
        print(number_regions.regions())
for number in ("+12025550101", "+493012345678", "+34911234567", "+442079460000", "+61291234567"):
    print(number_regions.region_of(number), timezones.timezones_of(number))
"""


def test_trimmed_packages_give_the_same_words_numbers_and_time_zones(tmp_path: Path) -> None:
    for name in ("babel", "phonenumbers"):
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.origin is not None
        shutil.copytree(Path(found.origin).parent, tmp_path / name)

    def read(environment: dict[str, str]) -> str:
        done = subprocess.run(
            [sys.executable, "-c", READ],
            cwd=ROOT,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert trim(tmp_path) > 40_000_000
    assert read({"PYTHONPATH": str(tmp_path)}) == read({})
