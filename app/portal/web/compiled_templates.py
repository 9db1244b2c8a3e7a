"""Compiled templates, kept between starts of the web server, as Python keeps modules.

Compiling a template takes ten times as long as rendering it, and leaves fragmented memory.
"""

import logging
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

# nosec B403 - nothing is unpickled by it; Jinja reads the cache
from pickle import UnpicklingError

import jinja2
from flask import Flask
from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from app.config import ROOT

log = logging.getLogger(__name__)


class _TolerantBytecodeCache(FileSystemBytecodeCache):
    """Ignores files that can't be read or written: after a power cut, or on a full disk."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError, EOFError, UnpicklingError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def cache_templates(app: Flask, folder: Path) -> None:
    """Cache templates in ``folder``, to which only this account may write, because its content is
    executed."""
    current_folder = folder / _code_digest()
    try:
        current_folder.mkdir(parents=True, exist_ok=True)
        for subfolder in folder.iterdir():
            if subfolder != current_folder:
                shutil.rmtree(subfolder, ignore_errors=True)
    except OSError as error:
        log.warning("compiled templates are not kept: %s", error)
        return
    app.jinja_env.bytecode_cache = _TolerantBytecodeCache(str(current_folder))


def _code_digest() -> str:
    """Return a name that changes with the code, because filters and settings affect the compiled
    templates."""
    digest = sha256()
    for package in (ROOT / "app", Path(jinja2.__file__).parent):
        for path in sorted(package.rglob("*.py")):
            state = path.stat()
            digest.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]
