"""The least work that reads, judges and merges the same files."""

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import phonenumbers
from openpyxl import load_workbook

from benchmarks.bulk_upsert import Contact, PostgresqlFloor, SqliteFloor

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]+")


def openpyxl_reads(path: Path) -> None:
    workbook = load_workbook(path, read_only=True)
    for _ in workbook.worksheets[0].iter_rows(values_only=True):
        pass


def judged(path: Path) -> Iterator[Contact]:
    """Judge the CSV in one bare pass: phones by the library, the form of e-mails, duplicates."""
    seen: set[int] = set()
    with path.open(encoding="utf-8", newline="") as file:
        for first, last, email, phone, city, due in islice(csv.reader(file), 1, None):
            number = phonenumbers.parse(phone, "US")
            assert phonenumbers.is_possible_number(number)
            assert EMAIL.fullmatch(email)
            e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
            seen.add(hash((e164, email)))
            yield {
                "firstName": first,
                "lastName": last,
                "email": email,
                "phone": e164,
                "status": None,
                "contactMetadata": {"City": city, "Recall due": due},
            }


def bare_pass(path: Path) -> None:
    for _ in judged(path):
        pass


def bare_merge(url: str, folder: Path) -> None:
    floor = PostgresqlFloor(url) if url.startswith("postgresql") else SqliteFloor(folder)
    floor.prepare()
    contacts = judged(folder / "people.csv")
    while chunk := list(islice(contacts, 500)):
        floor.run(list({contact["phone"]: contact for contact in chunk}.values()))
