"""The format of a backup: a tar archive, compressed and encrypted, whose last entry is a
manifest."""

import gzip
import io
import json
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import IO, Any

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database"
CHUNK = 1024 * 1024
_QUICK = 1
"""The gzip level: higher ones hardly shrink contact files further, and dumps of PostgreSQL are
compressed already."""


class BackupUnusable(Exception):
    """The file can't be opened, or doesn't match its manifest."""


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """The contents of a backup. ``tables`` are rows by table, ``files`` all entries by path."""

    kind: str
    """``sqlite`` or ``postgresql``."""
    server: str
    revision: str | None
    version: str
    created_at: str
    tables: dict[str, int]
    files: dict[str, ArchivedFile]
    format: int = FORMAT

    @classmethod
    def read(cls, text: str) -> "BackupManifest":
        stored: dict[str, Any] = json.loads(text)
        if stored.get("format") != FORMAT:
            message = f"This version reads backups of format {FORMAT}, not {stored.get('format')}."
            raise BackupUnusable(message)
        files = {path: ArchivedFile(**each) for path, each in stored.pop("files").items()}
        return cls(files=files, **stored)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True)


Identities = Sequence[Any]
"""The private keys that open a backup."""


def _age() -> Any:
    """The library of age files, which has no types."""
    import pyrage

    return pyrage


def new_key() -> tuple[str, str]:
    """Return a new private key, and the public key that belongs to it."""
    identity = _age().x25519.Identity.generate()
    return str(identity), str(identity.to_public())


def read_identities(path: Path) -> Identities:
    """Read private keys, one per line, as ``age-keygen`` writes them. Raises `BackupUnusable`."""
    lines = (line.strip() for line in path.read_text().splitlines())
    try:
        identities = [
            _age().x25519.Identity.from_str(line) for line in lines if line[:1] not in ("", "#")
        ]
    except _age().IdentityError as error:
        message = f"{path} holds no private keys: {error}."
        raise BackupUnusable(message) from None
    if not identities:
        message = f"{path} holds no private keys."
        raise BackupUnusable(message)
    return identities


def pack(
    target: Path,
    public_keys: Sequence[str],
    entries: Sequence[tuple[str, Path]],
    manifest: Callable[[dict[str, ArchivedFile]], BackupManifest],
) -> BackupManifest:
    """Write the entries, and the manifest made of their sizes and checksums, as one file."""
    try:
        keys = [_age().x25519.Recipient.from_str(key) for key in public_keys]
    except _age().RecipientError as error:
        message = f"A public key can't be used: {error}."
        raise BackupUnusable(message) from None
    manifests: list[BackupManifest] = []

    def write(stream: IO[bytes]) -> None:
        with (
            gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=_QUICK) as packed,
            tarfile.open(fileobj=packed, mode="w|") as tar,
        ):
            files = {name: _add_file(tar, name, path) for name, path in entries}
            manifests.append(manifest(files))
            _add_text(tar, MANIFEST, manifests[0].to_json())

    with target.open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
        with _in_thread(write, "wb") as stream:
            _age().encrypt_io(stream, file, keys)
        file.flush()
        os.fsync(file.fileno())
    return manifests[0]


def unpack(file: Path, identities: Identities, folder: Path) -> BackupManifest:
    """Write the entries of a backup into the empty folder and compare them with the manifest.
    Raises `BackupUnusable`."""
    files: dict[str, ArchivedFile] = {}

    def read(stream: IO[bytes]) -> None:
        with (
            gzip.GzipFile(fileobj=stream, mode="rb") as packed,
            tarfile.open(fileobj=packed, mode="r|") as tar,
        ):
            for entry in tar:
                files[entry.name] = _extract(tar, entry, folder)

    try:
        with file.open("rb") as source, _in_thread(read, "rb") as stream:
            _age().decrypt_io(source, stream, identities)
    except (_age().DecryptError, OSError, tarfile.TarError, EOFError, zlib.error) as error:
        message = f"{file} can't be read: {error}."
        raise BackupUnusable(message) from None
    if files.pop(MANIFEST, None) is None:
        message = f"{file} is incomplete: it has no manifest."
        raise BackupUnusable(message)
    manifest = BackupManifest.read((folder / MANIFEST).read_text())
    differing = {
        name for name in files | manifest.files if files.get(name) != manifest.files.get(name)
    }
    if differing:
        message = f"{file} differs from its manifest: {', '.join(sorted(differing)[:5])}."
        raise BackupUnusable(message)
    return manifest


def _add_file(tar: tarfile.TarFile, name: str, path: Path) -> ArchivedFile:
    entry = tarfile.TarInfo(name)
    entry.mode = 0o600
    with path.open("rb") as file:
        entry.size = os.fstat(file.fileno()).st_size
        reader = _ChecksumReader(file)
        tar.addfile(entry, reader)
    return ArchivedFile(entry.size, reader.digest.hexdigest())


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = 0o600, len(text.encode())
    tar.addfile(entry, io.BytesIO(text.encode()))


def _extract(tar: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> ArchivedFile:
    """Extract only plain files below the folder: the archive may come from someone else."""
    target = (folder / entry.name).resolve()
    if not entry.isfile() or not target.is_relative_to(folder.resolve()):
        message = f"The backup holds an unexpected entry: {entry.name}."
        raise BackupUnusable(message)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source = tar.extractfile(entry)
    reader = _ChecksumReader(source) if source else None
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while reader and (chunk := reader.read(CHUNK)):
            file.write(chunk)
    return ArchivedFile(entry.size, reader.digest.hexdigest() if reader else "")


class _ChecksumReader:
    """Computes the checksum of a file while it is read."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self.digest = sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        return chunk


@contextmanager
def _in_thread(work: Callable[[IO[bytes]], None], mode: str) -> Iterator[IO[bytes]]:
    """Run ``work`` in a thread with one end of a pipe, opened in ``mode``; the block has the other.
    An error of ``work`` is raised at the end, in place of the block's own, which it caused."""
    reader, writer = os.pipe()
    thread_end, block_end = (writer, reader) if mode == "wb" else (reader, writer)
    failed: list[Exception] = []

    def run() -> None:
        try:
            with os.fdopen(thread_end, mode) as stream:
                work(stream)
        except Exception as error:  # noqa: BLE001 - raised in the thread that waits
            failed.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        with os.fdopen(block_end, "rb" if mode == "wb" else "wb") as stream:
            yield stream
    finally:
        thread.join()
        if failed and not isinstance(failed[0], BrokenPipeError):
            raise failed[0]
