"""Realistic contact files of any size."""

from collections.abc import Iterator
from pathlib import Path

from openpyxl import Workbook

HEADER = ("First name", "Last name", "Email", "Phone", "City", "Recall due")


def people(count: int) -> Iterator[tuple[str, ...]]:
    """Rows as people keep them: four ways to write numbers, some of the contacts twice."""
    for index in range(count):
        person = index - 7 if index % 50 == 49 else index
        number = person * 7919 % 8_000_000
        area = 201 + number // 1_000_000
        exchange = 200 + number // 10_000 % 100
        line = number % 10_000
        digit_groups = f"{area}", f"{exchange}", f"{line:04}"
        phone = (
            "+1{}{}{}".format(*digit_groups),
            "({}) {}-{}".format(*digit_groups),
            "{}-{}-{}".format(*digit_groups),
            "+1 {} {} {}".format(*digit_groups),
        )[index % 4]
        yield (
            f"Jörg {person}",
            "Fröhlich",
            f"contact{person}@example.com",
            phone,
            "Łódź",
            f"2026-12-{index % 28 + 1:02}",
        )


def make_files(folder: Path, count: int) -> None:
    with (folder / "people.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(HEADER) + "\n")
        file.writelines(",".join(row) + "\n" for row in people(count))
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("People")
    sheet.append(HEADER)
    for row in people(count):
        sheet.append(row)
    workbook.save(folder / "people.xlsx")
