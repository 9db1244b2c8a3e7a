"""Backups: made while others write, verified, and restored on another host."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import func, select

from app import backups
from app.backups import records
from app.backups.databases import throw_away
from app.config import Settings
from app.config.database_urls import for_libpq
from app.database import Database, make_engine
from app.jobs import housekeeping
from app.jobs.restore_detection import MarkFile
from app.models import Backup, Call, Partner, utcnow
from app.services import pauses, workers
from tests.fixtures.databases import OWNER, POSTGRES_ADMIN, Databases
from tests.fixtures.s3_server import BUCKET, S3Server
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker import create_calling_organization

UPLOAD = "0" * 32
READER = f"reader_{os.getpid()}"


@pytest.fixture
def keys(tmp_path: Path) -> tuple[str, Path]:
    """A public key, and the file with the private one."""
    private, public = backups.new_key()
    path = tmp_path / "key.txt"
    path.write_text(f"# public key: {public}\n{private}\n")
    return public, path


@pytest.fixture
def settings(fresh_database: Database, tmp_path: Path) -> Settings:
    instance = tmp_path / "instance"
    (instance / "uploads").mkdir(parents=True)
    (instance / "uploads" / UPLOAD).write_bytes(b"phone\n+12025550101\n" * 1000)
    (instance / "secret.key").write_text("a generated key")
    (instance / "sip").mkdir()
    (instance / "sip" / "began").touch()
    return settings_for(url_of(fresh_database), instance)


@pytest.fixture
def empty_url(fresh_database: Database, databases: Databases, tmp_path: Path) -> Iterator[str]:
    if fresh_database.is_sqlite:
        yield f"sqlite:///{tmp_path / 'new host' / 'portal.db'}"
        return
    url = databases.create("postgresql", like=None)
    yield url
    databases.drop(url)


def with_a_call(database: Database) -> None:
    calling_organization = create_calling_organization(database)
    calling_organization.dial(database, "+12125551000")


@pytest.fixture
def concurrent_writes(fresh_database: Database) -> Iterator[Callable[[], int]]:
    """Others that write partners in pairs until the end; gives how many pairs so far."""
    stop, pairs = threading.Event(), [0]

    def write() -> None:
        while not stop.is_set():
            with fresh_database.transaction() as session:
                for half in ("a", "b"):
                    session.add(Partner(slug=f"{half}-{pairs[0]}", name="Pair"))
            pairs[0] += 1

    writer = threading.Thread(target=write)
    writer.start()
    yield lambda: pairs[0]
    stop.set()
    writer.join()


def pair_sizes(database: Database) -> set[int]:
    """How many partners of each pair are there."""
    number = func.substr(Partner.slug, 3)
    query = select(func.count()).where(Partner.name == "Pair").group_by(number)
    with database.transaction(read_only=True) as session:
        return set(session.scalars(query))


def test_a_backup_under_load_is_consistent_and_can_be_restored_on_another_host(
    fresh_database: Database,
    settings: Settings,
    keys: tuple[str, Path],
    concurrent_writes: Callable[[], int],
    empty_url: str,
    tmp_path: Path,
) -> None:
    with_a_call(fresh_database)
    mark = MarkFile(settings.instance_dir, fresh_database)
    with fresh_database.transaction() as session:
        mark.advance(session)
    mark.write_committed()
    while concurrent_writes() < 20:
        pass
    made = backups.create(settings, tmp_path / "backups", [keys[0]])
    before, now = made.manifest.tables, concurrent_writes()
    assert made.unverified is None
    assert now > 20
    assert sorted(made.manifest.files) == ["database", "secret.key", f"uploads/{UPLOAD}"]

    identities = backups.read_identities(keys[1])
    verified = backups.verify(made.path, identities, url_of(fresh_database))
    expected = (len(before), sum(before.values()), 2)
    assert (verified.tables, verified.rows, verified.files) == expected

    instance = tmp_path / "new host"
    assert backups.restore(made.path, identities, empty_url, instance) == verified
    files = [str(path.relative_to(instance)) for path in instance.rglob("*") if path.is_file()]
    assert sorted(set(files) - {"portal.db"}) == ["secret.key", f"uploads/{UPLOAD}"]
    restored = Database(make_engine(empty_url))
    assert pair_sizes(restored) == {2}
    mark = MarkFile(instance, restored)
    with restored.transaction() as session:
        mark.advance(session)
        (pause,) = pauses.listing(session)
        assert session.scalar(select(func.count(Call.id))) == 1
    assert pause.reason == "restored from a backup, or a copy of another installation"
    restored.dispose()


def test_the_remains_of_an_interrupted_backup_are_removed_a_day_later(
    settings: Settings, keys: tuple[str, Path], tmp_path: Path
) -> None:
    old, recent = (
        settings.instance_dir / f".unfinished-backup-{name}" for name in ("old", "recent")
    )
    for folder in (old, recent):
        (folder / "uploads").mkdir(parents=True)
    target = tmp_path / "backups"
    target.mkdir()
    old_file, recent_file = (target / f"portal-{day}.tar.gz.partial" for day in ("1", "2"))
    for file in (old_file, recent_file):
        file.touch()
    for path in (old, old_file):
        os.utime(path, (0, 0))
    backups.create(settings, target, [keys[0]])
    assert not old.exists()
    assert not old_file.exists()
    assert recent.exists()
    assert recent_file.exists()


def test_a_folder_of_backups_in_the_instance_folder_is_never_taken_for_remains(
    settings: Settings, keys: tuple[str, Path]
) -> None:
    folder = settings.instance_dir / "backup-files"
    folder.mkdir()
    earlier = folder / "portal-20260101T030000Z.tar.gz.age"
    earlier.touch()
    os.utime(folder, (0, 0))
    made = backups.create(settings, folder, [keys[0]])
    assert backups.listing(folder) == [made.path, earlier]


def test_only_the_private_key_opens_a_backup(
    settings: Settings, keys: tuple[str, Path], tmp_path: Path
) -> None:
    made = backups.create(settings, tmp_path / "backups", [keys[0]])
    assert made.path.read_bytes().startswith(b"age-encryption.org/v1\n")
    assert made.path.stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other.txt"
    other.write_text(backups.new_key()[0])
    with pytest.raises(backups.BackupUnusable, match="can't be read"):
        backups.verify(made.path, backups.read_identities(other), url_of_settings(settings))


def url_of_settings(settings: Settings) -> str:
    return settings.effective_database_url


@pytest.mark.parametrize("damage", ["changed", "cut off"])
def test_a_damaged_backup_is_refused(
    settings: Settings, keys: tuple[str, Path], tmp_path: Path, damage: str
) -> None:
    made = backups.create(settings, tmp_path / "backups", [keys[0]])
    content = bytearray(made.path.read_bytes())
    content[len(content) // 2] ^= 1
    made.path.write_bytes(content if damage == "changed" else content[: len(content) // 2])
    with pytest.raises(backups.BackupUnusable, match="can't be read"):
        backups.verify(made.path, backups.read_identities(keys[1]), url_of_settings(settings))


def test_a_restore_never_overwrites_anything(
    settings: Settings, keys: tuple[str, Path], empty_url: str, tmp_path: Path
) -> None:
    made = backups.create(settings, tmp_path / "backups", [keys[0]])
    identities = backups.read_identities(keys[1])
    with pytest.raises(backups.DatabaseToolFailed, match=r"isn't empty|exists already"):
        backups.restore(made.path, identities, url_of_settings(settings), tmp_path / "new host")
    with pytest.raises(backups.BackupUnusable, match="holds files already"):
        backups.restore(made.path, identities, empty_url, settings.instance_dir)
    (tmp_path / "keyed").mkdir()
    (tmp_path / "keyed" / "secret.key").write_text("another key")
    with pytest.raises(backups.BackupUnusable, match="another secret key"):
        backups.restore(made.path, identities, empty_url, tmp_path / "keyed")


@pytest.mark.debian
def test_the_tools_of_age_and_tar_open_a_backup_too(
    settings: Settings, keys: tuple[str, Path], tmp_path: Path
) -> None:
    made = backups.create(settings, tmp_path / "backups", [keys[0]])
    plain = tmp_path / "plain.tar.gz"
    done = subprocess.run(["age", "-d", "-i", keys[1], "-o", plain, made.path], check=False)
    assert done.returncode == 0
    listed = subprocess.run(["tar", "tzf", plain], check=True, capture_output=True, text=True)
    names = ["database", "secret.key", f"uploads/{UPLOAD}", "manifest.json"]
    assert listed.stdout.split() == names


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_role_that_may_not_create_databases_makes_an_unverified_backup(
    settings: Settings, keys: tuple[str, Path], databases: Databases, tmp_path: Path
) -> None:
    own = url_of_settings(settings)
    databases.administer(f"CREATE ROLE {READER} LOGIN BYPASSRLS IN ROLE pg_read_all_data")
    reading = {"database_url": own.replace("portal_owner@", f"{READER}@")}
    reader = settings.model_copy(update=reading)
    made = backups.create(reader, tmp_path / "backups", [keys[0]])
    assert made.unverified is not None
    assert made.unverified.startswith("No database could be created to verify in: ")
    changed = reader.model_copy(update={"backup_scratch_url": own})
    assert backups.create(changed, tmp_path / "others", [keys[0]]).unverified is None


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_the_database_of_a_verification_is_removed_after_a_lost_connection(
    settings: Settings, tmp_path: Path
) -> None:
    """The session of another role takes the place of autovacuum, which has no role."""
    url = url_of_settings(settings)
    with throw_away("postgresql", url, tmp_path) as made:
        at_work = psycopg.connect(for_libpq(made.replace(f"{OWNER}@", f"{POSTGRES_ADMIN}@")))
        threading.Timer(0.3, at_work.close).start()
    with psycopg.connect(for_libpq(url)) as connection:
        name = made.rpartition("/")[2]
        left = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        assert left.fetchall() == []


def test_the_worker_makes_one_backup_a_day_and_keeps_the_newest(
    fresh_database: Database, settings: Settings, keys: tuple[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for day in (1, 2, 3):
        (folder / f"portal-2026010{day}T030000Z.tar.gz.age").touch()
    changes = {"backup_dir": folder, "backup_public_key": keys[0], "backup_keep": 2}
    daily = settings.model_copy(update=changes)
    with fresh_database.transaction() as session:
        backup_id = records.claim(session, utcnow(), hour=3)
        assert records.claim(session, utcnow(), hour=3) is None
    assert backup_id is not None
    housekeeping.back_up(fresh_database, daily, backup_id)
    with fresh_database.transaction() as session:
        (found,) = session.scalars(select(Backup))
        assert records.claim(session, utcnow(), hour=3) is None
    newest = backups.listing(folder)
    assert [path.name for path in newest[1:]] == ["portal-20260103T030000Z.tar.gz.age"]
    assert (found.file, found.problem) == (str(newest[0]), None)
    assert found.verified_at is not None


def test_a_failed_backup_is_noted_and_tried_again_after_an_hour(
    fresh_database: Database, settings: Settings, keys: tuple[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "backups"
    daily = settings.model_copy(update={"backup_dir": folder, "backup_public_key": keys[0]})
    with fresh_database.transaction() as session:
        backup_id = records.claim(session, utcnow(), hour=3)
    assert backup_id is not None
    housekeeping.back_up(fresh_database, daily, backup_id)
    with fresh_database.transaction() as session:
        found = records.state(session)
        assert found.last is not None
        assert found.last.problem is not None
        assert (found.succeeded, found.is_overdue) == (None, True)
        assert records.claim(session, utcnow(), hour=3) is None
        found.last.started_at -= records.RETRY
        session.flush()
        assert records.claim(session, utcnow(), hour=3) is not None


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_backup_of_a_damaged_file_is_noted_as_failed(
    fresh_database: Database, settings: Settings, keys: tuple[str, Path], tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no database" * 1000)
    changes = {"backup_dir": tmp_path / "backups", "backup_public_key": keys[0]}
    changes["database_url"] = f"sqlite:///{damaged}"
    with fresh_database.transaction() as session:
        backup_id = records.begin(session, utcnow())
    housekeeping.back_up(fresh_database, settings.model_copy(update=changes), backup_id)
    with fresh_database.transaction() as session:
        assert session.get_one(Backup, backup_id).problem == "file is not a database"


def test_a_backup_of_a_living_worker_is_not_begun_again_for_some_hours(
    fresh_database: Database,
) -> None:
    with fresh_database.transaction() as session:
        workers.announce(session, "first")
        now = utcnow()
        hour, later = (now.hour + 12) % 24, now + records.RETRY
        assert records.claim(session, now, hour) is not None
        assert records.claim(session, later, hour) is None
        workers.remove(session, "first")
        workers.announce(session, "second")
        assert records.claim(session, later, hour) is not None
        latest = later + records.MAX_RUNNING
        assert records.claim(session, latest - timedelta(minutes=1), hour) is None
        assert records.claim(session, latest, hour) is not None


def test_a_daily_backup_in_a_bucket_is_restored_without_the_files_of_a_bucket(
    fresh_database: Database,
    keys: tuple[str, Path],
    empty_url: str,
    tmp_path: Path,
    s3_server: S3Server,
) -> None:
    name = tmp_path.name
    place = f"s3://{BUCKET}/{name}-backups"
    changes = {"backup_bucket": place, "backup_public_key": keys[0], "backup_keep": 2}
    instance = tmp_path / "instance"
    daily = settings_for(url_of(fresh_database), instance, **s3_server.settings(name), **changes)
    old = [f"portal-2026010{day}T030000Z.tar.gz.age" for day in (1, 2, 3)]
    for each in [*old, "other.txt"]:
        s3_server.client.put_object(Bucket=BUCKET, Key=f"{name}-backups/{each}", Body=b"x")
    with_a_call(fresh_database)
    with fresh_database.transaction() as session:
        backup_id = records.begin(session, utcnow())
    housekeeping.back_up(fresh_database, daily, backup_id)
    with fresh_database.transaction() as session:
        (found,) = session.scalars(select(Backup))
    assert (found.problem, found.file.rpartition("/")[0]) == (None, place)
    kept = {"other.txt", old[2], found.file.rpartition("/")[2]}
    assert set(s3_server.names(f"{name}-backups")) == kept
    assert list(instance.iterdir()) == []

    identities = backups.read_identities(keys[1])
    with backups.local_file(daily, found.file) as path:
        backups.restore(path, identities, empty_url, tmp_path / "restored")
    restored = Database(make_engine(empty_url))
    with restored.transaction() as session:
        assert session.scalar(select(func.count(Call.id))) == 1
    restored.dispose()
    with pytest.raises(backups.BackupUnusable, match="doesn't exist"), backups.local_file(
        daily, f"{place}/absent"
    ):  # fmt: skip
        pass


def test_a_backup_says_that_the_files_of_a_bucket_are_not_in_it(
    fresh_database: Database, keys: tuple[str, Path], tmp_path: Path, s3_server: S3Server
) -> None:
    bucket = s3_server.settings(tmp_path.name)
    settings = settings_for(url_of(fresh_database), tmp_path / "instance", **bucket)
    made = backups.create_at(settings, str(tmp_path / "backups"), [keys[0]])
    assert made.left_out == (
        f"The files in {bucket['files_url']} are not in it: keep their deleted versions in the "
        "bucket for as long as backups."
    )
    wrong = settings.model_copy(update={"files_key_secret": "wrong"})
    with pytest.raises(backups.BackupUnusable, match="can't be used"):
        backups.create_at(wrong, f"s3://{BUCKET}/{tmp_path.name}", [keys[0]])
    assert s3_server.names(tmp_path.name) == []
