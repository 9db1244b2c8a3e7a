"""Uploaded files that no upload has are found and removed, and no others."""

import io
import os
import time
from pathlib import Path
from typing import Any

from app.extensions import files
from app.gateways.files import StoredFile
from tests.portal.uploader import Uploader


def orphan_file(uploader: Uploader) -> StoredFile:
    """A file whose request ended before its row was written."""
    with uploader.app.app_context():
        return files().save(io.BytesIO(b"Name\nAnn\n"), max_bytes=100)


def run(uploader: Uploader, *words: str) -> Any:
    return uploader.app.test_cli_runner().invoke(args=["files", "orphans", *words]).output


def test_orphans_of_over_a_day_are_removed(uploader: Uploader, tmp_path: Path) -> None:
    uploader.upload("Name,Phone\nAnn,+12025550123\n")
    [in_use] = [path.name for path in (tmp_path / "uploads").iterdir()]
    orphan, fresh = orphan_file(uploader), orphan_file(uploader)
    before = time.time() - 25 * 3600
    for key in (in_use, orphan.key):
        os.utime(tmp_path / "uploads" / key, (before, before))
    assert run(uploader) == f"{orphan.key}\nOrphan files: 1\n"
    assert run(uploader, "--remove") == f"{orphan.key}\nRemoved: 1\n"
    assert {path.name for path in (tmp_path / "uploads").iterdir()} == {in_use, fresh.key}
    assert run(uploader) == "Orphan files: 0\n"
