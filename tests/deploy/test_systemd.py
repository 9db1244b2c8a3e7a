"""systemd accepts the units, and they start programs that this version has."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.deploy.conftest import DEPLOY

ROOT = DEPLOY.parent
UNITS = sorted((DEPLOY / "systemd").iterdir())
PROGRAM = re.compile(r"^ExecStart=/srv/portal/(\S+)", re.MULTILINE)


@pytest.mark.debian
@pytest.mark.parametrize("name", [unit.name for unit in UNITS])
def test_systemd_accepts_the_unit(name: str, tmp_path: Path) -> None:
    for unit in UNITS:  # a timer needs its service
        (tmp_path / unit.name).write_text(PROGRAM.sub("ExecStart=/bin/true", unit.read_text()))
    checked = name.replace("@", "@8000")
    if checked != name:
        shutil.copy(tmp_path / name, tmp_path / checked)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / checked)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


@pytest.mark.debian
def test_systemd_refuses_a_unit_with_a_mistake(tmp_path: Path) -> None:
    unit = tmp_path / "wrong.service"
    unit.write_text("[Service]\nExecStart=/bin/true\nKillMode=proces\n")
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"{unit}:3:" in result.stderr


def test_the_units_start_programs_of_the_virtual_environment() -> None:
    programs = {
        match for unit in UNITS for match in PROGRAM.findall(unit.read_text())
    }  # fmt: skip
    assert programs == {"bin/portal"}
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"portal": "supervisor.command:main"}
