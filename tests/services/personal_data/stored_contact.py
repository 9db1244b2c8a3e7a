"""An organization that has stored a contact in every way."""

import io
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import (
    CallStatus,
    DeliveryStatus,
    ExportFormat,
    ExportStatus,
    ImportStatus,
    RecordingStatus,
    WebhookEvent,
)
from app.gateways.files import FileStore, open_files
from app.gateways.mailers import OutgoingMail, open_outbox
from app.jobs.erase_subject import SubjectErasure
from app.models import (
    CallAttempt,
    CallEvent,
    CallRecording,
    CallTranscript,
    Campaign,
    Erasure,
    MailKind,
    Organization,
    SavedView,
    SimulatedCall,
    WebhookDelivery,
    new_id,
    utcnow,
)
from app.policy.caller import Caller
from app.services import campaigns, do_not_call, exports, idempotency, mail_queue, webhooks
from app.services.contacts import single_contact
from app.services.contacts.single_contact import ContactFields
from app.services.personal_data import erasing, subjects
from tests.fixtures.uploads import Importer, make_importer
from tests.portal.test_calls import answered, make_call

PHONE, EMAIL = "+12025550143", "greta.canary@mail.example"
FIRST, LAST = "Gretaxine", "Canarywood"
CANARIES = (PHONE, "2025550143", "555-0143", EMAIL, FIRST, LAST)
PLANTED = {
    *("audit_entries", "call_attempts", "call_events", "call_transcripts", "calls"),
    *("contact_imports", "contacts", "do_not_call", "idempotency_records", "import_changes"),
    *("import_rows", "list_exports", "mails", "saved_views", "simulated_calls"),
    "webhook_deliveries",
}
PLANTED_FILES = ("upload", "recording", "export", "mail")
NEIGHBOUR = "+12025550777"
FILE = f"first,last,phone,email\n{FIRST},{LAST},(202) 555-0143,{EMAIL}\nAda,Bell,{NEIGHBOUR},\n"


@dataclass
class StoredContact:
    """An organization that has stored a contact in every way, and the means to erase it."""

    database: Database
    settings: Settings
    folder: Path
    importer: Importer
    files: FileStore
    admin: Caller
    contact_id: UUID = field(default_factory=new_id)

    def request(self) -> UUID:
        with self.database.transaction() as session:
            subject = subjects.contact(
                session, self.admin, self.importer.campaign_id, self.contact_id
            )
            return erasing.request(session, self.admin, subject).id

    def erase(self) -> Erasure:
        erasure_id = self.request()
        SubjectErasure(self.database, self.files, open_outbox(self.settings), erasure_id).run()
        with self.database.transaction(read_only=True) as session:
            return erasing.get(session, self.admin, erasure_id)

    def save(self, content: bytes) -> str:
        return self.files.save(io.BytesIO(content), max_bytes=10_000).key


def plant(stored_contact: StoredContact) -> None:
    importer, admin = stored_contact.importer, stored_contact.admin
    with stored_contact.database.transaction() as session:
        organization = session.get_one(Campaign, importer.campaign_id)
        organization_id, partner_id = organization.organization_id, organization.partner_id
        second = campaigns.create(session, admin, organization_id, name="Second").id
        single_contact.add(session, admin, second, ContactFields(FIRST, "", PHONE))
        changed = ContactFields(FIRST, LAST, PHONE, EMAIL, status="hot", metadata={"age": 44})
        single_contact.edit(
            session, admin, importer.campaign_id, stored_contact.contact_id, changed
        )
        listed = f"{PHONE},{FIRST} {LAST} asked\n{NEIGHBOUR},{EMAIL} too"
        do_not_call.add_many(
            session, admin, organization_id, do_not_call.read_numbers(listed, "US").valid
        )
        for whose in (organization_id, None):
            webhook = webhooks.add(
                session,
                admin,
                stored_contact.settings,
                organization_id=whose,
                url="https://crm.example/hooks",
                events=[event.value for event in WebhookEvent],
            ).webhook
            for number, text in enumerate((f'{{"to": "{PHONE}"}}', f'{{"to": "{NEIGHBOUR}"}}')):
                session.add(
                    WebhookDelivery(
                        webhook_id=webhook.id,
                        event_id=UUID(int=number + 1),
                        type="call.completed",
                        payload=text,
                        status=DeliveryStatus.DELIVERED,
                    )
                )
        slot = idempotency.claim(session, admin.subject_id or new_id(), "contacts", "k1", {})
        assert isinstance(slot, idempotency.IdempotencySlot)
        idempotency.store_answer(session, slot, {"contacts": [{"phone": PHONE, "email": EMAIL}]})
        session.add(
            SavedView(
                partner_id=partner_id,
                organization_id=None,
                user_id=admin.subject_id,
                list_name="calls",
                name=f"Calls of {FIRST} {LAST}",
                query="q=%2B12025550143&status=busy",
                is_shared=True,
            )
        )
        mail_queue.enqueue(
            session,
            MailKind.CHAT_MESSAGE,
            partner_id=partner_id,
            to="desk@northwind.example",
            details={"message": f"Please call {EMAIL}"},
        )
        wanted = exports.ExportInput("calls", "q=2025550143", ExportFormat.CSV, "UTC")
        export = exports.create(session, admin, wanted)
        export.status, export.file_key = ExportStatus.READY, stored_contact.save(PHONE.encode())
    letter = OutgoingMail(
        id=new_id(),
        partner_id=partner_id,
        to="desk@northwind.example",
        to_name=None,
        sender_name="Northwind",
        reply_to=None,
        subject=f"About {FIRST} {LAST}",
        text=f"Their number is {PHONE}.",
        html=f"<p>{PHONE}</p>",
    )
    open_outbox(stored_contact.settings).send(letter)
    upload = importer.apply(importer.check(importer.upload(FILE, name=f"{FIRST} {LAST}.csv")).id)
    assert upload.status is ImportStatus.DONE
    with stored_contact.database.transaction() as session:
        _plant_call(session, stored_contact, partner_id)


def _plant_call(session: Session, stored_contact: StoredContact, partner_id: UUID) -> None:
    organization = session.get_one(Organization, stored_contact.importer.organization_id)
    call = make_call(
        session,
        organization,
        PHONE,
        contact_id=stored_contact.contact_id,
        contact={"firstName": FIRST, "lastName": LAST, "email": EMAIL},
        call_metadata={"about": LAST},
        intro_message=f"Hello {FIRST}",
        **answered(),
    )
    make_call(session, organization, NEIGHBOUR, **answered())
    attempt = CallAttempt(
        organization_id=organization.id,
        call_id=call.id,
        number=1,
        carrier=call.carrier,
        status=CallStatus.COMPLETED,
        spoken=f"Hello {FIRST}",
    )
    session.add(attempt)
    session.flush()
    session.add_all(
        [
            CallEvent(
                call_id=call.id, key="said", status=CallStatus.COMPLETED, detail=f"Hi {FIRST}"
            ),
            SimulatedCall(
                reference=str(attempt.id),
                from_number="+12025550100",
                to_number=PHONE,
                placed_at=utcnow(),
            ),
            CallRecording(
                partner_id=partner_id,
                organization_id=organization.id,
                call_id=call.id,
                contact_id=stored_contact.contact_id,
                status=RecordingStatus.STORED,
                file_key=stored_contact.save(f"RIFF {LAST}".encode()),
            ),
            CallTranscript(
                partner_id=partner_id,
                organization_id=organization.id,
                call_id=call.id,
                contact_id=stored_contact.contact_id,
                turns=[{"speaker": "contact", "text": f"This is {LAST}"}],
                summary=f"{FIRST} wants a date.",
            ),
        ]
    )


def make_stored_contact(
    session: Session, database: Database, settings: Settings, folder: Path
) -> StoredContact:
    importer = make_importer(session, database, folder)
    session.commit()
    made = StoredContact(
        database, settings, folder, importer, open_files(settings), importer.caller
    )
    with database.transaction() as own:
        fields = ContactFields(
            FIRST, LAST, PHONE, EMAIL, metadata={"note": f"{FIRST} likes mornings"}
        )
        made.contact_id = single_contact.add(own, importer.caller, importer.campaign_id, fields)
        neighbour = ContactFields("Ada", "Bell", NEIGHBOUR)
        single_contact.add(own, importer.caller, importer.campaign_id, neighbour)
    plant(made)
    return made
