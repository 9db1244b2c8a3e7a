"""Remove unused files from the installed packages, where size matters: in an image.

``python -m scripts.trim_packages`` trims the environment that runs it: texts of languages that the
portal doesn't have (Babel), and places and carriers of phone numbers (phonenumbers, whose countries
and time zones stay). ``pip install --force-reinstall`` restores them.
"""

import shutil
import sysconfig
from pathlib import Path

from app.languages import LANGUAGES

UNUSED_FOLDERS = ("phonenumbers/geodata", "phonenumbers/carrierdata")


def trim(packages: Path) -> int:
    """Trim a folder of packages; return the freed bytes."""
    before = _size(packages)
    for name in UNUSED_FOLDERS:
        shutil.rmtree(packages / name)
    for path in (packages / "babel" / "locale-data").glob("*.dat"):
        if path.stem.split("_")[0] not in {*LANGUAGES, "root"}:
            path.unlink()
    return before - _size(packages)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    print(f"{trim(Path(sysconfig.get_path('purelib'))) / 10**6:.0f} MB removed")
