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
from app.enums import RecordingState, Role
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
from app.services.contacts import single
from app.services.imports import expiry
from app.services.recordings import announce, reports, retention
from tests.fixtures.cast import OPERATOR, caller_with, make_tenant
from tests.fixtures.faulty_carrier import ACCOUNT, TOKEN
from tests.fixtures.picture_server import PictureServer
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.voice_engine import WAV
from tests.portal.test_calls import answered, make_call

MP3 = b"ID3\x04" + bytes(500)


@pytest.fixture
def server() -> Iterator[PictureServer]:
    with PictureServer().open() as opened:
        yield opened


class Desk:
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
        fetch_and_store(self.database, self.files, self.settings, found.id, found.turn)
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
def desk(fresh_database: Database, tmp_path: Path, server: PictureServer) -> Desk:
    return Desk(fresh_database, tmp_path, server)


def test_a_reported_recording_is_fetched_and_kept(desk: Desk, server: PictureServer) -> None:
    desk.report(server.serve("/1.wav", WAV))
    found = desk.fetch()
    assert (found.state, found.size, found.content_type, found.problem) == (
        (RecordingState.STORED, len(WAV), "audio/wav", None)
    )
    assert desk.stored() == [WAV]


def test_a_new_recording_replaces_the_file(desk: Desk, server: PictureServer) -> None:
    desk.report(server.serve("/1.wav", WAV))
    desk.fetch()
    desk.report(server.serve("/2.mp3", MP3), "r2")
    assert (desk.fetch().content_type, desk.stored()) == ("audio/mpeg", [MP3])


def test_an_outdated_job_fetches_nothing(desk: Desk, server: PictureServer) -> None:
    desk.report(server.serve("/1.wav", WAV))
    old = desk.recording()
    assert old is not None
    desk.report(server.serve("/2.mp3", MP3), "r2")
    fetch_and_store(desk.database, desk.files, desk.settings, old.id, old.turn)
    assert (server.asked, desk.stored()) == ([], [])


def test_a_recording_that_is_not_there_yet_is_tried_again_and_then_given_up(
    desk: Desk, server: PictureServer
) -> None:
    desk.report(server.url("/1.wav"))
    states = [desk.fetch().state.value for _turn in range(4)]
    assert states == ["waiting", "waiting", "waiting", "failed"]
    assert desk.fetch().problem == "127.0.0.1 answered with status 404."
    assert len(server.asked) == 4


def test_a_file_that_is_no_recording_is_given_up_at_once(desk: Desk, server: PictureServer) -> None:
    desk.report(server.serve("/1.wav", b"<html>"))
    assert desk.fetch().state is RecordingState.FAILED
    desk.report(server.serve("/2.wav", WAV + bytes(4096)), "r2")
    assert (desk.fetch().state, desk.stored()) == (RecordingState.FAILED, [])


def test_a_recording_over_the_storage_limit_is_not_kept(desk: Desk, server: PictureServer) -> None:
    desk.settings = desk.settings.model_copy(update={"storage_organization_bytes": len(WAV) - 1})
    desk.report(server.serve("/1.wav", WAV))
    found = desk.fetch()
    words = "The storage limit is reached, so the recording was not kept."
    assert (found.state, found.problem, desk.stored()) == (RecordingState.FAILED, words, [])
    desk.settings = desk.settings.model_copy(update={"storage_organization_bytes": len(WAV)})
    desk.report(server.serve("/2.wav", WAV), "r2")
    desk.fetch()
    with desk.database.transaction(read_only=True) as session:
        limits = desk.settings.storage_defaults
        own = organizations.get(session, desk.admin, desk.organization_id)
        used = [
            storage.of_organization(session, own, limits).used,
            storage.of_partner(session, OPERATOR, desk.partner_id, limits).used,
            storage.used_by_all(session, caller_with(Role.OPERATOR, None)),
            *(
                one.used
                for _, one in storage.of_organizations(session, OPERATOR, desk.partner_id, limits)
            ),
        ]
    assert used == [len(WAV)] * 4


def test_a_carriers_recording_is_fetched_from_its_own_api(
    desk: Desk, server: PictureServer
) -> None:
    attempt_id = _attempt(desk)
    reference = "RE" + "1" * 32
    server.serve(f"/2010-04-01/Accounts/{ACCOUNT}/Recordings/{reference}.mp3", MP3)
    with desk.database.transaction() as session:
        told = [
            announce(session, attempt_id, "CA2", reference),
            announce(session, new_id(), "CA1", reference),
            announce(session, attempt_id, "CA1", reference),
            announce(session, attempt_id, "CA1", reference),
        ]
    assert told == [False, False, True, False]
    assert (desk.fetch().state, desk.stored()) == (RecordingState.STORED, [MP3])


def test_the_recording_of_the_voice_engine_is_preferred_to_that_of_the_carrier(
    desk: Desk, server: PictureServer
) -> None:
    desk.report(server.serve("/1.wav", WAV))
    attempt_id = _attempt(desk)
    with desk.database.transaction() as session:
        assert announce(session, attempt_id, "CA1", "RE" + "1" * 32) is False
    desk.fetch()
    assert desk.stored() == [WAV]


def test_recordings_and_transcripts_are_deleted_when_their_time_is_over(
    desk: Desk, server: PictureServer
) -> None:
    desk.report(server.serve("/1.wav", WAV))
    desk.fetch()
    with desk.database.transaction() as session:
        for kind in (CallRecording, CallTranscript):
            session.execute(update(kind).values(created_at=utcnow() - timedelta(days=91)))
        assert retention.purge_recordings(session, 92) == []
        [key] = retention.purge_recordings(session, 90)
        assert retention.purge_transcripts(session, 365) == 0
        assert retention.purge_transcripts(session, 90) == 1
    desk.files.delete(key)
    assert (desk.is_empty(), desk.stored()) == (True, [])


@pytest.mark.parametrize("owner", ["contact", "call", "organization"])
def test_recordings_and_transcripts_are_deleted_with_contact_call_and_organization(
    desk: Desk, server: PictureServer, owner: str
) -> None:
    desk.report(server.serve("/1.wav", WAV))
    desk.fetch()
    _age(desk)
    with desk.database.transaction(read_only=True) as session:
        assert expiry.list_orphans(session, desk.files, expiry.ORPHAN_AFTER) == []
    with desk.database.transaction() as session:
        if owner == "contact":
            single.remove(session, desk.admin, desk.campaign_id, desk.contact_id)
        elif owner == "call":
            session.execute(delete(Call).where(Call.id == desk.call_id))
        else:
            session.execute(delete(Organization).where(Organization.id == desk.organization_id))
    assert desk.is_empty()
    with desk.database.transaction(read_only=True) as session:
        [orphan] = expiry.list_orphans(session, desk.files, expiry.ORPHAN_AFTER)
    desk.files.delete(orphan)
    assert desk.stored() == []


def _attempt(desk: Desk) -> UUID:
    with desk.database.transaction() as session:
        call = session.get_one(Call, desk.call_id)
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


def _age(desk: Desk) -> None:
    for path in (desk.folder / "uploads").iterdir():
        before = time.time() - 25 * 3600
        os.utime(path, (before, before))
