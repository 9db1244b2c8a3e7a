"""The features of the installed baresip."""

import re
import shutil
import subprocess
from functools import cache

CHECKS_SINCE = (1, 1, 0)
"""The first version that checks certificates (``sip_verify_server``)."""
UNCHECKED = (
    "Calls over TLS aren't placed: the installed baresip can't check certificates. Install baresip "
    "1.1 or newer, or choose another transport."
)
_VERSION = re.compile(r"baresip v(\d+)\.(\d+)\.(\d+)")
_ANSWER_SECONDS = 5.0


@cache
def checks_certificates(baresip: str) -> bool:
    """Return whether this baresip refuses a trunk with an invalid certificate."""
    program = shutil.which(baresip)
    if program is None:
        return False
    try:
        printed = subprocess.run(  # noqa: S603 - the operator names the program
            [program, "-h"], capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    version = _VERSION.search(printed.stdout + printed.stderr)
    return version is not None and tuple(map(int, version.groups())) >= CHECKS_SINCE
