"""The walkthrough of docs/operations.md, word for word: a bare Debian places its first call.

Two programs have stand-ins (``bare_debian.py``): systemctl, since nothing boots, and certbot, since
no authority reaches the host. All other commands are the page's.
"""

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from scripts import build_wheel
from tests import matrix
from tests.deploy.bare_debian import BareDebian
from tests.deploy.conftest import DEPLOY

PAGE = (DEPLOY.parent / "docs" / "operations.md").read_text()
MAX_MINUTES = 15


def blocks() -> tuple[str, str]:
    """The shell blocks of the walkthrough: those that fetch packages, and those that follow."""
    guide = PAGE.partition("## From a bare Debian machine to the first call\n")[2]
    fetching, _, following = guide.partition("## Extras\n")[0].partition("### 4. Settings\n")
    first, second = (
        "\n".join(re.findall(r"^```sh\n(.*?)^```$", part, re.DOTALL | re.MULTILINE))
        for part in (fetching, following)
    )
    return first, second


def test_the_walkthrough_has_each_step_once() -> None:
    first, second = blocks()
    steps = [
        *("apt-get install", "--require-hashes", "portal migrate", "portal operator create"),
        *("systemctl enable", "certbot certonly", "portal doctor", "portal partner create"),
    ]
    assert [f"{first}{second}".count(step) for step in steps] == [1] * len(steps)


@pytest.mark.product
@pytest.mark.skipif(not matrix.is_full(), reason="takes minutes: make check-all runs it")
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("debootstrap") is None, reason="needs root and debootstrap"
)
def test_a_bare_debian_places_its_first_call(tmp_path: Path) -> None:
    build_wheel.main()
    debian = BareDebian(tmp_path, build_wheel.DIST)
    began = time.monotonic()
    first, second = blocks()
    debian.run(f"{first}\npwd > /srv/folder")
    printed = debian.run(f'cd "$(cat /srv/folder)"\n{second}', alone=True)
    assert printed.splitlines()[-1] == "The first call: completed"
    assert (time.monotonic() - began) / 60 < MAX_MINUTES
