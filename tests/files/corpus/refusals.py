"""Lists in which some people must not be called."""

from typing import Any

from tests.files.corpus.cases import ANN, BOB, CY, Case, bad, ok

DEE = "+12025550104"


def _csv(*lines: str) -> bytes:
    return "\r\n".join([*lines, ""]).encode()


def _no(source: str, **more: str) -> dict[str, Any]:
    """Return the metadata of a contact who asked not to be called."""
    return {**more, "consent": "no", "consentSource": source}


REFUSALS = {
    "Salesforce, with boxes that are ticked": Case(
        "contacts.csv",
        _csv(
            '"Id","FirstName","LastName","MobilePhone","HasOptedOutOfEmail","DoNotCall"',
            f'"003A","Ann","Lee","{ANN}","1","0"',
            f'"003B","Bob","Li","{BOB}","0","1"',
        ),
        [
            ok(2, "Ann", "Lee", ANN, meta={"Id": "003A", "HasOptedOutOfEmail": "1"}),
            ok(3, "Bob", "Li", BOB, warnings="do_not_call",
               meta=_no("DoNotCall", Id="003B", HasOptedOutOfEmail="0")),
        ],
        {"mapping": {
            "Id": ["Id"], "firstName": ["FirstName"], "lastName": ["LastName"],
            "phone": ["MobilePhone"], "HasOptedOutOfEmail": ["HasOptedOutOfEmail"],
            "doNotCall": ["DoNotCall"],
        }},
    ),
    "a CRM with reasons not to call": Case(
        "contacts.csv",
        _csv(
            "Full Name,Phone,DND,Consent,Consent Source",
            f"Ann Lee,{ANN},true,yes,web form",
            f"Bob Li,{BOB},until May,,",
            f"Cy Ek,{CY},#REF!,,",
            f"Dee Om,{DEE},N/A,yes,web form",
        ),
        [
            ok(2, "Ann", "Lee", ANN, warnings="do_not_call", meta=_no("DND")),
            ok(3, "Bob", "Li", BOB, warnings="do_not_call_unclear", meta=_no("DND: until May")),
            bad(4, ("cell_error", "DND")),
            ok(5, "Dee", "Om", DEE, warnings="placeholder_value",
               meta={"consent": "yes", "consentSource": "web form"}),
        ],
    ),
    "a dialer's list that was cleaned of refusals": Case(
        "leads.txt",
        _csv(
            "First Name|Phone 1|Phone 1 DNC|Phone 2|Phone 2 DNC",
            f"Ann|{ANN}|N||",
            f"Bob|{BOB}|N|{CY}|Y",
        ),
        [
            ok(2, "Ann", "", ANN),
            ok(3, "Bob", "", BOB, warnings="do_not_call several_phones",
               meta=_no("Phone 2 DNC", **{"Phone 2": CY})),
        ],
        {"delimiter": "|"},
    ),
    "a practice's list, its people not to be called": Case(
        "patienten.csv",
        "Patient;Handy;Nicht anrufen\r\n"
        f"Ann Lee;{ANN};ja\r\nBob Li;{BOB};nein\r\nCy Ek;{CY};\r\n".encode(),
        [
            ok(2, "Ann", "Lee", ANN, warnings="do_not_call", meta=_no("Nicht anrufen")),
            ok(3, "Bob", "Li", BOB),
            ok(4, "Cy", "Ek", CY),
        ],
    ),
}  # fmt: skip
