"""What the README promises is there."""

import re

import pytest

from app.config import ROOT, Settings

README = (ROOT / "README.md").read_text()


def test_the_table_of_settings_names_each_of_them_and_no_other() -> None:
    names = {
        str(field.validation_alias or f"PORTAL_{name.upper()}")
        for name, field in Settings.model_fields.items()
    }
    table = README.partition("## Settings")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`([A-Z_]+)`", " ".join(rows))) == names


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([\w./-]+)\)", README))))
def test_every_file_that_is_linked_exists(path: str) -> None:
    assert (ROOT / path).is_file()


def test_every_place_on_the_map_exists() -> None:
    block = README.partition("## A map of the house")[2].split("```")[1]
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
