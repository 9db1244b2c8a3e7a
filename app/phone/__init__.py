"""Phone numbers: one table and one set of functions for all code that reads or dials them.

``normalise`` is for numbers that are stored, ``check_dialable`` for numbers that are about to be
called. Both use E.164 in ASCII and nothing else.
"""

from app.phone.destinations import (
    OPENED_BY,
    USUAL_REGIONS,
    DestinationLayer,
    OpenRegions,
    check_dialable,
)
from app.phone.notation import (
    MAX_SEARCHED,
    PhoneError,
    holds_several_numbers,
    split_extension,
)
from app.phone.number_regions import (
    calling_code,
    country_name,
    format_international,
    list_countries,
    region_of,
    region_of_code,
    regions,
)
from app.phone.numbers import is_plain_e164, is_plausible, normalise, normalise_written
from app.phone.region_patterns import quick_region_of
from app.phone.timezones import EVERY_DAY, comparable_end, timezones_of, within_calling_hours
