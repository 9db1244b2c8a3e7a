"""Two partners whose stored texts are all markers. A marker names its partner.

New tables and columns are filled by their types. A column that can't hold a marker has a line in
`FIXED`, one with a shape of its own a line in `SHAPES`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Date,
    DateTime,
    Enum,
    ForeignKeyConstraint,
    LargeBinary,
    String,
    Table,
    Uuid,
    insert,
    select,
    update,
)
from sqlalchemy import Time as ClockTime
from sqlalchemy.orm import Session

from app.commands.demo_story import PARTNERS, PartnerStory
from app.commands.demo_world import DemoWorld
from app.database import Database, make_engine
from app.database.migration import upgrade
from app.gateways.job_queue import migrate_engine
from app.models import Base, Partner, index_names, new_id, utcnow
from app.models.base import UtcDateTime
from app.policy.caller import system_caller
from app.services.assistants.settings import AssistantFields
from app.services.branding.drafts import published_content
from app.services.organization_templates.content import (
    PreparedCampaign,
    document_of,
    plain_content,
)
from app.services.outreach import CampaignPlan
from tests.test_row_level_security import TABLES

OPERATOR = system_caller("tests")
HISTORY = ("audit_entries", "audit_links")
"""Tables whose rows can't be changed: they contain what the services recorded about planted
rows."""
FIXED = re.compile(
    r"""(?x)
    .*[._](?:hash|digest|sha256|secret|kind|type|timezone|currency|code|state|scopes?|events)$
    | .*\.(?:request_id|method|operation|weekdays|action|outcome|undone|consent|host|theme)$
    | agents\.service | users\.notifications | portal_sessions\.data | audit_entries\.target_id
    | brand_versions\.content | partners\.(?:chat_template_colors|empty_lists)
    | partner_brand_colors\..* | partner_destinations\.(?:limit_)?regions
    | organizations\.(?:allowed_regions|default_region|referral_ui_customization)
    | contact_imports\.(?:file_key|read_options|found|mapping|packed|repairs|expected|undo_result)
    | call_attempts\.attestation
    | partners\.(?:second_factor_for|retention_days) | erasures\.counts
    | import_(?:problems\.(?:reason|field)|rows\.reason|changes\.fields_left)
    | column_mappings\.mapping | do_not_call\.source | outreach_contacts\.reason
    | legacy_exchanges\.(?:answer|shadow_answer) | carrier_accounts\.trunk
    | mails\.(?:details|failure) | spending_limits\.budget_levels | report_schedules\.language
    """
)
"""Columns with fixed words, hashes, secrets and settings; ``table.column``."""


class Markers:
    """Markers of one partner, each used once: words, e-mail addresses, phone numbers."""

    def __init__(self, prefix: str, area_codes: str):
        self.prefix = prefix
        *self._area_codes, one, two, three = area_codes.split()
        self.demo_codes = (one, two, three)
        """The area codes of the numbers that the demo makes."""
        self._words = self._phones = 0
        codes = "|".join(area_codes.split())
        phone = rf"(?:\+1\D?|(?<!\d))(?:{codes})\D{{0,3}}555\D{{0,2}}01\d\d(?!\d)"
        self.pattern = re.compile(rf"{prefix}\d{{5}}q|{phone}", re.IGNORECASE)

    def skip_stored(self) -> None:
        """Skip all markers that `fill` has used."""
        self._words = 1000

    def word(self) -> str:
        self._words += 1
        return f"{self.prefix}{self._words:05d}q"

    def phone(self) -> str:
        code, rest = divmod(self._phones, 100)
        self._phones += 1
        return f"+1{self._area_codes[code % len(self._area_codes)]}55501{rest:02d}"

    def of_column(self, column: Column[Any]) -> str:
        name = column.name
        if "phone" in name or name == "from_number":
            return self.phone()
        if "email" in name or name == "to":
            return f"{self.word()}@mail.example"
        if name == "url" or name.endswith(("_url", "_link")):
            return f"https://{self.word()}.example/"
        if name in {"voice_address", "hand_over_to"}:
            return f"sip:{self.word()}@voice.example"
        return self.word()


def _template(marks: Markers) -> dict[str, Any]:
    assistant = AssistantFields(
        name=marks.word(),
        service=marks.word(),
        default_intro=marks.word(),
        default_voicemail=marks.word(),
        voice_address=f"sip:{marks.word()}@voice.example",
    )
    plan = CampaignPlan(None, intro_message=marks.word(), voicemail_message=marks.word())
    campaign = PreparedCampaign(marks.word(), plan)
    return document_of(replace(plain_content(assistant, 3), campaign=campaign))


def _address(marks: Markers) -> dict[str, Any]:
    return {"lines": [marks.word()], "taxId": marks.word()}


SHAPES: Mapping[str, Callable[[Markers], Any]] = {
    "audit_entries.before": lambda marks: {"name": marks.word()},
    "audit_entries.after": lambda marks: {"name": marks.word()},
    "calls.contact": lambda marks: {
        "phoneNumber": marks.phone(),
        "firstName": marks.word(),
        "lastName": marks.word(),
        "email": f"{marks.word()}@mail.example",
    },
    "call_transcripts.turns": lambda marks: [{"speaker": "person", "text": marks.word()}],
    "import_rows.contact": lambda marks: {"phone": marks.phone(), "firstName": marks.word()},
    "import_corrections.cells": lambda marks: {"0": marks.word()},
    "import_corrections.was": lambda marks: {"0": marks.word()},
    "import_problems.repair": lambda marks: marks.phone(),
    "erasures.sought": lambda marks: {
        "phones": [marks.phone()],
        "emails": [f"{marks.word()}@mail.example"],
        "names": [marks.word()],
        "contacts": [],
    },
    "idempotency_records.response": lambda marks: {"message": marks.word()},
    "organization_templates.content": _template,
    "alert_rules.recipients": lambda marks: [f"{marks.word()}@mail.example"],
    "spending_limits.budget_recipients": lambda marks: [f"{marks.word()}@mail.example"],
    "partners.allowed_query_params": lambda marks: {marks.word(): True},
    "partners.texts_by_language": lambda marks: {"de": {"tagline": marks.word()}},
    "partners.billing_address": _address,
    "organizations.billing_address": _address,
    "statements.parties": lambda marks: {
        **{
            side: {"name": marks.word(), "email": None, "address": _address(marks)}
            for side in ("seller", "buyer")
        },
        "payment": {"instructions": marks.word(), "days": 14},
    },
    "plan_versions.texts": lambda marks: {
        "customerFreePlan": {"de": {"name": marks.word(), "features": [marks.word()]}}
    },
    "legacy_exchanges.request": lambda marks: {
        "agentId": marks.word(),
        "contact": {"phoneNumber": marks.phone(), "firstName": marks.word()},
        "metadata": {"planted": marks.word()},
    },
    "partner_domains.findings": lambda marks: [
        {"kind": "ownership", "state": "different", "found": [marks.word()]}
    ],
    "partner_destinations.hosts": lambda marks: [f"{marks.word()}.example"],
    "partner_destinations.limit_hosts": lambda marks: [f"{marks.word()}.example"],
    "webhook_deliveries.payload": lambda marks: json.dumps({"planted": marks.word()}),
    "webhook_deliveries.attempt_log": lambda marks: [
        {"at": utcnow().isoformat(), "status": 500, "answer": marks.word(), "seconds": 0.2}
    ],
}
"""Columns whose texts are part of something that the application parses."""
GENERATED: Mapping[str, Any] = {
    "api_requests.route": "/api/v1/campaigns",
    "audit_entries.action": "organization.updated",
    "audit_entries.target_type": "organization",
    "brand_images.content_type": "image/png",
    "brand_versions.number": 1,
    "carrier_accounts.carrier": "twilio",
    "carrier_accounts.removed_at": None,
    "dialling_pauses.scope": "partner:",
    "import_problems.code": "phone_invalid",
    "import_problems.field": "phone",
    "import_changes.action": "updated",
    "mails.kind": "invitation",
    "mails.sent_at": utcnow(),
    "outreaches.weekdays": "12345",
    "users.timezone": "UTC",
}
"""Values of fixed columns in the rows that are created for tables that the demo leaves empty."""


@dataclass
class PlantedPartner:
    """One of the two partners: its markers, and its rows, by table."""

    marks: Markers
    partner_id: UUID
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all its rows."""
        return frozenset(
            str(row["id"]) for rows in self.rows.values() for row in rows if "id" in row
        )

    @cached_property
    def published(self) -> frozenset[str]:
        """Return the markers of its brand and of its sign-in buttons, which its public pages
        show."""
        tables = ("partners", *(name for name in self.rows if name.startswith("partner_")))
        buttons = [(row["id"], row["name"]) for row in self.rows["identity_providers"]]
        text = json.dumps([buttons, *(self.rows[name] for name in tables)], default=str)
        return self.found_in(text)

    def found_in(self, text: str) -> frozenset[str]:
        """Return its markers and ids in a text, in lower case."""
        words = {_plain(found) for found in self.marks.pattern.findall(text)}
        return frozenset(words | (self.ids & {found.lower() for found in UUIDS.findall(text)}))


LAST = "idempotency_records"
"""Its rows name a credential without a foreign key."""
LISTS = frozenset(
    {
        *("regions", "limit_regions", "events", "scopes", "mapping", "allowed_regions"),
        "budget_levels",
    }
)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
UUIDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _plain(found: str) -> str:
    """Return a phone number as its last ten digits, without separators."""
    digits = re.sub(r"\D", "", found)
    return digits[-10:] if len(digits) >= 10 else found.lower()


def new_marks() -> tuple[Markers, Markers]:
    """The markers of the two partners."""
    return (
        Markers("qxown", "205 206 207 208 209 210 212 213 214 215"),
        Markers("qxoth", "302 303 304 305 307 308 309 310 312 313"),
    )


def fill(url: str) -> None:
    """Create the demo with planted names, so that the data that its services derive and record
    contains them too."""
    made = Database(make_engine(url))
    upgrade(made)
    migrate_engine(url)
    stories = tuple(
        _planted_story(story, marks) for story, marks in zip(PARTNERS, new_marks(), strict=True)
    )
    with made.transaction() as session:
        DemoWorld(session, OPERATOR, "http://127.0.0.1", utcnow()).build(stories, history_days=2)
    made.dispose()


def _planted_story(story: PartnerStory, marks: Markers) -> PartnerStory:
    return replace(
        story,
        name=marks.word(),
        slug=marks.word(),
        product_name=marks.word(),
        header_links=((marks.word(), f"https://{marks.word()}.example/"),),
        organizations=tuple(
            replace(each, name=marks.word(), service=marks.word(), area_code=code)
            for each, code in zip(story.organizations, marks.demo_codes, strict=True)
        ),
    )


def planted_partners_of(session: Session) -> tuple[PlantedPartner, PlantedPartner]:
    """The two partners that `fill` has made, the older one first."""
    found = session.scalars(select(Partner.id).order_by(Partner.created_at)).all()
    own, other = (
        PlantedPartner(marks, partner_id)
        for marks, partner_id in zip(new_marks(), found, strict=True)
    )
    for side in (own, other):
        side.marks.skip_stored()
    return own, other


def plant(session: Session, planted_partners: tuple[PlantedPartner, PlantedPartner]) -> None:
    """Give each side a row in every table of tenants, and every text of its rows a marker."""
    for side in planted_partners:
        _read(session, side)
        _publish_brand(session, side)
        for name, table in TABLES.items():
            if name != "audit_links" and (name in HISTORY or not side.rows[name]):
                side.rows[name].append(_new_row(session, table, side))
        for name, table in TABLES.items():
            if name not in HISTORY:
                for row in side.rows[name]:
                    _overwrite(session, table, row, side.marks)
    index_names(session.connection())
    session.commit()
    for side in planted_partners:
        _read(session, side)


def _read(session: Session, side: PlantedPartner) -> None:
    """Assign the rows of all tables to their owners: directly, or through the rows that they refer
    to."""
    side.rows = {}
    tables = sorted(Base.metadata.sorted_tables, key=lambda table: table.name == LAST)
    for table in tables:
        if table.name in TABLES:
            rows = session.execute(select(table)).mappings()
            side.rows[table.name] = [dict(row) for row in rows if _belongs(table, row, side)]


def _belongs(table: Table, row: Mapping[Any, Any], side: PlantedPartner) -> bool:
    if table.name == "partners":
        return bool(row["id"] == side.partner_id)
    if "partner_id" in row:
        return bool(row["partner_id"] == side.partner_id)
    if table.name == LAST:
        return str(row["credential_id"]) in {str(key["id"]) for key in side.rows["api_keys"]}
    for key in table.foreign_key_constraints:
        values = [row[column.name] for column in key.columns]
        if key.referred_table is not table and None not in values:
            return _referred(key, row, side) is not None
    return False


def _referred(
    key: ForeignKeyConstraint, row: Mapping[Any, Any], side: PlantedPartner
) -> dict[str, Any] | None:
    """Return the row of the side that a row refers to; the first one if it doesn't refer to one
    yet."""
    for found in side.rows[key.referred_table.name]:
        if all(
            row.get(element.parent.name) in {None, found[element.column.name]}
            for element in key.elements
        ):
            return found
    return None


def _publish_brand(session: Session, side: PlantedPartner) -> None:
    """A published version and a draft that hold the partner's brand."""
    _overwrite(session, TABLES["partners"], side.rows["partners"][0], side.marks)
    session.expire_all()
    partner = session.get_one(Partner, side.partner_id)
    content = published_content(session, OPERATOR, partner)
    table = TABLES["brand_versions"]
    for number, at in ((1, utcnow()), (2, utcnow()), (3, None)):
        changed = {**content, "productName": side.marks.word()}
        values = {
            "id": new_id(),
            "partner_id": side.partner_id,
            "number": number,
            "content": changed,
            "author": side.marks.word(),
            "published_at": at,
        }
        session.execute(insert(table).values(values))
        side.rows["brand_versions"].append(values)


def _new_row(session: Session, table: Table, side: PlantedPartner) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if "partner_id" in table.c:
        row["partner_id"] = side.partner_id
    # Foreign keys that decide others come first: a call decides the organization, not vice versa.
    depth = {each.name: place for place, each in enumerate(Base.metadata.sorted_tables)}
    keys = sorted(
        table.foreign_key_constraints,
        key=lambda key: (-len(key.columns), -depth[key.referred_table.name]),
    )
    for key in keys:
        found = _referred(key, row, side)
        if found is not None and key.referred_table is not table:
            row |= {each.parent.name: found[each.column.name] for each in key.elements}
    for column in table.c:
        if column.name not in row and not column.nullable:
            row[column.name] = _value(column, side)
        name = f"{table.name}.{column.name}"
        if name in GENERATED:
            row[column.name] = GENERATED[name]
    if table.name == LAST:
        row["credential_id"] = side.rows["api_keys"][0]["id"]
    if table.name == "dialling_pauses":
        row["scope"] += str(side.partner_id)
    if table.name in HISTORY:
        row |= {
            column.name: _planted(column, side.marks)
            for column in table.c
            if _is_text(column) and not FIXED.fullmatch(str(column))
        }
    session.execute(insert(table).values(row))
    return row


def _value(column: Column[Any], side: PlantedPartner) -> Any:
    """Return a value that a column accepts."""
    kind = column.type
    if isinstance(kind, Enum):
        return kind.enums[0]
    if isinstance(kind, JSON) and str(column) not in SHAPES:
        return [] if column.name in LISTS else {}
    if _is_text(column):
        return _planted(column, side.marks)
    simple = (
        (Uuid, new_id()),
        (Boolean, False),
        (LargeBinary, PIXEL),
        (ClockTime, time(9)),
        (Date, date(2026, 11, 2)),
        ((DateTime, UtcDateTime), utcnow()),
    )
    return next((value for of_kind, value in simple if isinstance(kind, of_kind)), 1)


def _overwrite(session: Session, table: Table, row: dict[str, Any], marks: Markers) -> None:
    changed = {}
    for column in table.c:
        now = row.get(column.name)
        if not _is_text(column) or FIXED.fullmatch(str(column)):
            continue
        if now is None and isinstance(column.type, JSON) and str(column) not in SHAPES:
            continue
        if marks.prefix not in str(now) and not marks.pattern.search(str(now)):
            changed[column.name] = _planted(column, marks)
    keys = {f"{name}_key": value for name, value in changed.items()}
    changed |= {name: value for name, value in keys.items() if name in table.c}
    if changed:
        own = [column == row[column.name] for column in table.primary_key]
        session.execute(update(table).where(*own).values(changed))
        row |= changed


def _is_text(column: Column[Any]) -> bool:
    is_text = isinstance(column.type, String | JSON) and not isinstance(column.type, Enum)
    return is_text and column.computed is None


def _planted(column: Column[Any], marks: Markers) -> Any:
    if str(column) in SHAPES:
        return SHAPES[str(column)](marks)
    if isinstance(column.type, JSON):
        return {marks.word(): marks.word()}
    return marks.of_column(column)


def unplanted(side: PlantedPartner) -> set[str]:
    """The columns of texts in which no row of the side holds a marker."""
    return {
        str(column)
        for name, table in TABLES.items()
        for column in table.c
        if _is_text(column)
        and not FIXED.fullmatch(str(column))
        and not any(side.marks.pattern.search(str(row[column.name])) for row in side.rows[name])
    }
