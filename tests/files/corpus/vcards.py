"""vCards of phones, address books and old programs."""

from tests.files.corpus.cases import ANN, BOB, CY, Case, bad, ok


def _cards(*lines: str, encoding: str = "utf-8") -> bytes:
    return "\r\n".join([*lines, ""]).encode(encoding)


VCARDS = {
    "Apple's contacts": Case(
        "Contacts.vcf",
        _cards(
            "BEGIN:VCARD", "VERSION:3.0", "PRODID:-//Apple Inc.//macOS 14//EN", "N:Lee;Ann;;;",
            "FN:Ann Lee", "ORG:Hove Dental\\, Ltd;",
            "EMAIL;type=INTERNET;type=HOME;type=pref:ann@mail.example",
            f"TEL;type=HOME;type=VOICE:{BOB}", f"TEL;type=CELL;type=VOICE;type=pref:{ANN}",
            "item1.ADR;type=HOME:;;12 High St;Hove;;BN3;UK", "item1.X-ABADR:gb",
            "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD/", " 2wBDAAgGBgcGBQgHBwcJ",
            "END:VCARD",
        ),
        [ok(1, "Ann", "Lee", ANN, "ann@mail.example", warnings="several_phones", meta={
            "Organization": "Hove Dental, Ltd", "Phone 2": BOB, "Phone type": "cell",
            "Phone 2 type": "home", "Address": "12 High St, Hove, BN3, UK",
        })],
        {"type": "vcard", "encoding": "utf-8", "headerRow": None, "delimiter": None, "sheet": None},
    ),
    "vCard 2.1 of an old phone": Case(
        "phonebook.vcf",
        _cards(
            "BEGIN:VCARD", "VERSION:2.1",
            "N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:N=FA=F1ez;Jos=E9",
            f"TEL;CELL:{ANN}", "TEL;WORK;FAX:+12025550199",
            "NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:first line=0D=0A=",
            "second l=C3=ADne", "END:VCARD",
            "BEGIN:VCARD", "VERSION:2.1", "N:Li;Bob", f"TEL;PREF;CELL:{BOB}", "END:VCARD",
        ),
        [
            ok(1, "José", "Núñez", ANN, meta={
                "Phone type": "cell", "Fax": "+12025550199", "Note": "first line\r\nsecond líne"}),
            ok(2, "Bob", "Li", BOB, meta={"Phone type": "cell"}),
        ],
        {"type": "vcard"},
    ),
    "vCard 4.0, folded": Case(
        "people.vcf",
        _cards(
            "BEGIN:VCARD", "VERSION:4.0", "FN:Dr. Zoë Me", " yer", "KIND:individual",
            f"TEL;VALUE=uri;PREF=1;TYPE=\"voice,cell\":tel:{ANN}", f"TEL;TYPE=work:{CY};ext=45",
            "EMAIL;TYPE=work:zoe@mail.example", "NOTE:one\\ntwo\\; three", "END:VCARD",
            "begin:vcard", "version:4.0", "n:;;;;", "fn:Bob", "tel:call me", "end:vcard",
        ),
        [
            ok(1, "Zoë", "Meyer", ANN, "zoe@mail.example", warnings="several_phones", meta={
                "Name prefix": "Dr.", "Phone 2": f"{CY};ext=45", "Phone type": "cell",
                "Phone 2 type": "work", "Note": "one\ntwo; three", "Kind": "individual",
            }),
            bad(2, ("invalid_phone", "Phone")),
        ],
    ),
    "a card without an end": Case(
        "cut.vcf",
        _cards("BEGIN:VCARD", "VERSION:3.0", "N:Lee;Ann", f"TEL:{ANN}",
               "BEGIN:VCARD", "VERSION:3.0", "N:Li;Bob", f"TEL:{BOB}"),
        [ok(1, "Ann", "Lee", ANN), ok(2, "Bob", "Li", BOB)],
    ),
}  # fmt: skip
