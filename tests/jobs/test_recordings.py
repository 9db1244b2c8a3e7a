"""Recordings of calls: fetched by the worker, replaced, given up, and deleted in time."""

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import delete, select, update

from app.database import Database
from app.enums import RecordingStatus, Role
from app.gateways.files import open_files
from app.jobs.fetch_recording import fetch_and_store
from app.models import (
    Call,
    CallAttempt,
    CallRecording,
    CallTranscript,
    Contact,
    Organization,
    new_id,
    utcnow,
)
from app.schemas.parsing import read
from app.schemas.voice import VoiceReport
from app.services import campaigns, organizations, storage
from app.services.contacts import single_contact
from app.services.imports import expiry
from app.services.recordings import announce, reports, retention
from tests.fixtures.faulty_carrier import ACCOUNT, TOKEN
from tests.fixtures.picture_server import PictureServer
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR, caller_with, make_tenant
from tests.fixtures.voice_engine import WAV
from tests.portal.test_calls import answered, make_call

MP3 = b"ID3\x04" + bytes(500)


@pytest.fixture
def server() -> Iterator[PictureServer]:
    with PictureServer().open() as opened:
        yield opened


class RecordedCall:
    """A call to a contact, and the worker that fetches its recording."""

    def __init__(self, database: Database, folder: Path, server: PictureServer):
        self.database, self.folder = database, folder
        self.settings = settings_for(
            url_of(database),
            folder,
            webhook_allow_private=True,
            recording_bytes=4096,
            twilio_account_sid=ACCOUNT,
            twilio_auth_token=TOKEN,
        ).model_copy(update={"twilio_api_url": server.url("")})
        self.files = open_files(self.settings)
        with database.transaction() as session:
            tenant = make_tenant(session)
            self.admin = tenant.caller(Role.PARTNER_ADMIN)
            self.campaign_id = campaigns.create(
                session, self.admin, tenant.organization.id, name="Winter recall"
            ).id
            contact = Contact(
                campaign_id=self.campaign_id,
                organization_id=tenant.organization.id,
                phone="+12025550101",
            )
            session.add(contact)
            session.flush()
            self.contact_id = contact.id
            self.partner_id = tenant.partner.id
            self.organization_id = tenant.organization.id
            number = "+12025550101"
            call = make_call(
                session, tenant.organization, number, contact_id=contact.id, **answered()
            )
            self.call_id = call.id

    def report(self, url: str, report_id: str = "r1") -> None:
        report = read(VoiceReport, {"recordingUrl": url, "summary": "Booked."})
        with self.database.transaction() as session:
            reports.accept_report(session, self.call_id, report, report_id, utcnow())

    def recording(self) -> CallRecording | None:
        with self.database.transaction(read_only=True) as session:
            return session.scalar(select(CallRecording))

    def fetch(self) -> CallRecording:
        found = self.recording()
        assert found is not None
        fetch_and_store(self.database, self.files, self.settings, found.id, found.attempt_number)
        after = self.recording()
        assert after is not None
        return after

    def stored(self) -> list[bytes]:
        folder = self.folder / "uploads"
        return [path.read_bytes() for path in folder.iterdir()] if folder.is_dir() else []

    def is_empty(self) -> bool:
        with self.database.transaction(read_only=True) as session:
            kinds = (CallRecording, CallTranscript)
            return not any(session.scalars(select(kind)).all() for kind in kinds)


@pytest.fixture
def recorded_call(fresh_database: Database, tmp_path: Path, server: PictureServer) -> RecordedCall:
    return RecordedCall(fresh_database, tmp_path, server)


def test_a_reported_recording_is_fetched_and_kept(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.report(server.serve("/1.wav", WAV))
    found = recorded_call.fetch()
    assert (found.status, found.size, found.content_type, found.problem) == (
        (RecordingStatus.STORED, len(WAV), "audio/wav", None)
    )
    assert recorded_call.stored() == [WAV]


def test_a_new_recording_replaces_the_file(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.report(server.serve("/1.wav", WAV))
    recorded_call.fetch()
    recorded_call.report(server.serve("/2.mp3", MP3), "r2")
    assert (recorded_call.fetch().content_type, recorded_call.stored()) == ("audio/mpeg", [MP3])


def test_an_outdated_job_fetches_nothing(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.report(server.serve("/1.wav", WAV))
    old = recorded_call.recording()
    assert old is not None
    recorded_call.report(server.serve("/2.mp3", MP3), "r2")
    fetch_and_store(
        recorded_call.database,
        recorded_call.files,
        recorded_call.settings,
        old.id,
        old.attempt_number,
    )
    assert (server.asked, recorded_call.stored()) == ([], [])


def test_a_recording_that_is_not_there_yet_is_tried_again_and_then_given_up(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.report(server.url("/1.wav"))
    states = [recorded_call.fetch().status.value for _turn in range(4)]
    assert states == ["waiting", "waiting", "waiting", "failed"]
    assert recorded_call.fetch().problem == "127.0.0.1 answered with status 404."
    assert len(server.asked) == 4


def test_a_file_that_is_no_recording_is_given_up_at_once(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.report(server.serve("/1.wav", b"<html>"))
    assert recorded_call.fetch().status is RecordingStatus.FAILED
    recorded_call.report(server.serve("/2.wav", WAV + bytes(4096)), "r2")
    assert (recorded_call.fetch().status, recorded_call.stored()) == (RecordingStatus.FAILED, [])


def test_a_recording_over_the_storage_limit_is_not_kept(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.settings = recorded_call.settings.model_copy(
        update={"storage_organization_bytes": len(WAV) - 1}
    )
    recorded_call.report(server.serve("/1.wav", WAV))
    found = recorded_call.fetch()
    words = "The storage limit is reached, so the recording was not kept."
    assert (found.status, found.problem, recorded_call.stored()) == (
        RecordingStatus.FAILED,
        words,
        [],
    )
    recorded_call.settings = recorded_call.settings.model_copy(
        update={"storage_organization_bytes": len(WAV)}
    )
    recorded_call.report(server.serve("/2.wav", WAV), "r2")
    recorded_call.fetch()
    with recorded_call.database.transaction(read_only=True) as session:
        limits = recorded_call.settings.storage_defaults
        own = organizations.get(session, recorded_call.admin, recorded_call.organization_id)
        used = [
            storage.of_organization(session, own, limits).used,
            storage.of_partner(session, OPERATOR, recorded_call.partner_id, limits).used,
            storage.used_by_all(session, caller_with(Role.OPERATOR, None)),
            *(
                one.used
                for _, one in storage.of_organizations(
                    session, OPERATOR, recorded_call.partner_id, limits
                )
            ),
        ]
    assert used == [len(WAV)] * 4


def test_a_carriers_recording_is_fetched_from_its_own_api(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    attempt_id = _attempt(recorded_call)
    reference = "RE" + "1" * 32
    server.serve(f"/2010-04-01/Accounts/{ACCOUNT}/Recordings/{reference}.mp3", MP3)
    with recorded_call.database.transaction() as session:
        reported = [
            announce(session, attempt_id, "CA2", reference),
            announce(session, new_id(), "CA1", reference),
            announce(session, attempt_id, "CA1", reference),
            announce(session, attempt_id, "CA1", reference),
        ]
    assert reported == [False, False, True, False]
    assert (recorded_call.fetch().status, recorded_call.stored()) == (RecordingStatus.STORED, [MP3])


def test_a_carriers_recording_without_an_account_to_fetch_it_is_given_up(
    recorded_call: RecordedCall,
) -> None:
    attempt_id = _attempt(recorded_call)
    with recorded_call.database.transaction() as session:
        announce(session, attempt_id, "CA1", "RE" + "1" * 32)
    recorded_call.settings = recorded_call.settings.model_copy(
        update={"twilio_account_sid": "", "twilio_auth_token": ""}
    )
    found = recorded_call.fetch()
    assert (found.status, found.problem) == (
        RecordingStatus.FAILED,
        "The carrier account of this call can no longer be used.",
    )


def test_the_recording_of_the_voice_engine_is_preferred_to_that_of_the_carrier(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.report(server.serve("/1.wav", WAV))
    attempt_id = _attempt(recorded_call)
    with recorded_call.database.transaction() as session:
        assert announce(session, attempt_id, "CA1", "RE" + "1" * 32) is False
    recorded_call.fetch()
    assert recorded_call.stored() == [WAV]


def test_recordings_and_transcripts_are_deleted_when_their_time_is_over(
    recorded_call: RecordedCall, server: PictureServer
) -> None:
    recorded_call.report(server.serve("/1.wav", WAV))
    recorded_call.fetch()
    with recorded_call.database.transaction() as session:
        for kind in (CallRecording, CallTranscript):
            session.execute(update(kind).values(created_at=utcnow() - timedelta(days=91)))
        assert retention.purge_recordings(session, 92) == []
        [key] = retention.purge_recordings(session, 90)
        assert retention.purge_transcripts(session, 365) == 0
        assert retention.purge_transcripts(session, 90) == 1
    recorded_call.files.delete(key)
    assert (recorded_call.is_empty(), recorded_call.stored()) == (True, [])


@pytest.mark.parametrize("owner", ["contact", "call", "organization"])
def test_recordings_and_transcripts_are_deleted_with_contact_call_and_organization(
    recorded_call: RecordedCall, server: PictureServer, owner: str
) -> None:
    recorded_call.report(server.serve("/1.wav", WAV))
    recorded_call.fetch()
    _age(recorded_call)
    with recorded_call.database.transaction(read_only=True) as session:
        assert expiry.list_orphans(session, recorded_call.files) == []
    with recorded_call.database.transaction() as session:
        if owner == "contact":
            single_contact.remove(
                session, recorded_call.admin, recorded_call.campaign_id, recorded_call.contact_id
            )
        elif owner == "call":
            session.execute(delete(Call).where(Call.id == recorded_call.call_id))
        else:
            session.execute(
                delete(Organization).where(Organization.id == recorded_call.organization_id)
            )
    assert recorded_call.is_empty()
    with recorded_call.database.transaction(read_only=True) as session:
        [orphan] = expiry.list_orphans(session, recorded_call.files)
    recorded_call.files.delete(orphan)
    assert recorded_call.stored() == []


def _attempt(recorded_call: RecordedCall) -> UUID:
    with recorded_call.database.transaction() as session:
        call = session.get_one(Call, recorded_call.call_id)
        attempt = CallAttempt(
            organization_id=call.organization_id,
            call_id=call.id,
            number=1,
            carrier="twilio",
            carrier_reference="CA1",
            status="completed",
        )
        session.add(attempt)
        session.flush()
        return attempt.id


def _age(recorded_call: RecordedCall) -> None:
    for path in (recorded_call.folder / "uploads").iterdir():
        before = time.time() - 25 * 3600
        os.utime(path, (before, before))
