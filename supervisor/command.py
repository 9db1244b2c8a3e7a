"""The command of an installed wheel: ``portal COMMAND``, from any folder.

``portal web`` is the web server, with the options of gunicorn, ``portal worker`` a worker, ``portal
serve`` the same as `make run`; all others are those of ``flask --app wsgi``.
"""

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

from app import ROOT

HELP = "Commands of the portal; also: web [OPTIONS OF GUNICORN], worker, serve [--port PORT]."


def main() -> None:
    if folder := os.environ.get("PORTAL_INSTANCE_DIR"):  # the code below may change the folder
        os.environ["PORTAL_INSTANCE_DIR"] = str(Path(folder).resolve())
    commands: dict[str, Callable[[], None]] = {"web": _web, "worker": _worker, "serve": _serve}
    run = commands.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if run is None:
        _flask()
    else:
        del sys.argv[1]
        run()


def _web() -> None:
    from gunicorn.app.wsgiapp import run  # noqa: PLC0415 - each command loads only its own

    config = ["--config", str(ROOT / "gunicorn.conf.py"), "--chdir", str(ROOT)]
    sys.argv[1:] = [*config, *sys.argv[1:], "wsgi:app"]
    run()


def _worker() -> None:
    runpy.run_module("app.jobs.worker", run_name="__main__")


def _serve() -> None:
    runpy.run_module("supervisor", run_name="__main__")


def _flask() -> None:
    from flask import Flask  # noqa: PLC0415 - as above
    from flask.cli import FlaskGroup  # noqa: PLC0415 - as above

    def portal() -> Flask:
        from wsgi import app  # noqa: PLC0415 - loads all of the portal

        return app

    group = FlaskGroup(create_app=portal, add_default_commands=False, load_dotenv=False, help=HELP)
    group.main(prog_name="portal")
