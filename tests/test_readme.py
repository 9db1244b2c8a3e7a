"""The files and commands that the README names exist."""

import re
import subprocess

from app.config import ROOT

README = (ROOT / "README.md").read_text()


def test_every_place_on_the_map_exists() -> None:
    block = README.partition("## A map of the code")[2].split("```")[1]
    missing, parents = [], [""]
    for line in block.splitlines():
        found = re.match(r"( *)(\S+(?: \S+)*?)(?:  |$)", line)
        if not line.strip() or not found:
            continue
        depth = len(found.group(1)) // 2
        for name in found.group(2).split(" "):
            if not re.fullmatch(r"[\w./]+", name):
                continue
            place = "".join([*parents[1 : depth + 1], name])
            if not (ROOT / place).exists():
                missing.append(place)
            if name.endswith("/"):
                parents[depth + 1 :] = [name]
    assert missing == []


def test_make_help_lists_every_command() -> None:
    commands = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert re.findall(r"^  make ([a-z-]+) ", listed, re.MULTILINE) == commands


def test_every_make_command_in_the_docs_exists() -> None:
    commands = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE))
    assert (named - set(commands), {"run", "test"} - named) == (set(), set())
