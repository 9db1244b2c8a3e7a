"""Places of IP addresses, from a database that the operator provides.

The file has MaxMind's format (maxmind.github.io/MaxMind-DB), like GeoLite2 and DB-IP. It can be
replaced while the portal runs.
"""

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)


def location_of(file: Path | None, address: str | None, language: str) -> str | None:
    """Return the city and country of an address, such as "Berlin, Germany", as far as the file
    knows them. Their names are English where it has none in ``language``."""
    if file is None or not address:
        return None
    try:
        record = _open_reader(file, file.stat().st_mtime_ns).get(address)
    except (OSError, RuntimeError, ValueError) as error:  # unreadable, damaged, or IPv6 not in it
        log.warning("no place of an address in %s: %s", file.name, type(error).__name__)
        return None
    if not isinstance(record, dict):
        return None
    names = (_localized_name(record.get(kind), language) for kind in ("city", "country"))
    return ", ".join(filter(None, names)) or None


@lru_cache(maxsize=1)
def _open_reader(file: Path, _changed: int) -> Any:
    import maxminddb

    return maxminddb.open_database(file)


def _localized_name(record: Any, language: str) -> str | None:
    names = record.get("names", {}) if isinstance(record, dict) else {}
    return names.get(language) or names.get("en")
