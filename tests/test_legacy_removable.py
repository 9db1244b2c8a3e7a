"""The legacy API (Area B) can be deleted: folders, files and the lines that register them.

docs/decisions/legacy-calls.md holds the same table for people.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.product

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/decisions/legacy-calls.md"

DELETED = (
    "app/api/legacy_calls",
    "app/commands/legacy.py",
    "app/commands/legacy_extensions.py",
    "app/models/legacy.py",
    "app/portal/legacy_migration",
    "app/schemas/legacy.py",
    "app/services/legacy",
    "templates/portal/legacy_migration",
)
CUT = {
    "app/api/__init__.py": (
        "from app.api.legacy_calls import blueprint as legacy_calls\n",
        ", legacy_calls)",
    ),
    "app/cli.py": (
        "from app.commands.legacy_extensions import extend_client\n",
        "    client_commands.add_command(extend_client)\n",
    ),
    "app/commands/demo_world.py": (
        "from app.commands.legacy import add_legacy_client\n",
        "        legacy = add_legacy_client(",
        "            **legacy,\n",
    ),
    "app/models/__init__.py": ("from app.models.legacy import LegacyDay, LegacyExchange\n",),
    "app/policy/routes.py": (
        '    "legacy_calls.place_call": P.LEGACY_CALL,\n',
        '    "portal.legacy_migration.',
    ),
    "app/policy/step_up.py": ('        "portal.legacy_migration.',),
    "app/portal/api_access/client_views.py": (
        "from app.services.legacy.calls import served_until\n",
        ", served_until(client, settings())",
    ),
    "app/portal/operator/installation_views.py": (
        '        (\n            gettext("Legacy API"),\n',
    ),
    "app/portal/web/sidebar_entries.py": ('                    "portal.legacy_migration.",\n',),
    "app/services/personal_data/inventory.py": ('    _H("legacy_exchanges: ',),
    "app/services/personal_data/sweep.py": ('    "legacy_exchanges": ',),
    "app/services/retention.py": (
        "from app.services.legacy import migration as legacy_migration\n",
        "    legacy_migration.purge(session)\n",
    ),
    "templates/portal/api_access/_tabs.html": ('    (\n      _("Migration"),\n',),
    "templates/portal/api_access/client.html": ("{% if not client.role %}\n",),
    "templates/portal/operator/partner.html": ('        (_("Legacy API"), _("View clients"), ',),
}
"""File -> the beginnings of what registers the API there."""
ENDS = {
    ", legacy_calls)": (", legacy_calls)", ")"),
    "        legacy = add_legacy_client(": ("  # fmt: skip\n", ""),
    '    "portal.legacy_migration.': ("\n", ""),
    '        "portal.legacy_migration.': ("\n", ""),
    '    _H("legacy_exchanges: ': ("\n", ""),
    '    "legacy_exchanges": ': ("\n", ""),
    '    (\n      _("Migration"),\n': ("    ),\n", ""),
    "{% if not client.role %}\n": ("{% endif %}\n", ""),
    '        (_("Legacy API"), _("View clients"), ': ("\n", ""),
    '        (\n            gettext("Legacy API"),\n': ("        ),\n", ""),
}
"""Beginning -> the end of what is cut, and its replacement; others are cut as such."""
GONE = ("legacy_calls", "legacy_migration", "app.services.legacy", "app.schemas.legacy",
        "app.models.legacy", "app.commands.legacy", "add_legacy_client", "LegacyDay",
        "LegacyExchange", "LegacyCall", "legacy_exchanges")  # fmt: skip
START = """
from app.config import Settings
from app.factory import create_app
from app.models import Base
from app.services.personal_data.sweep import swept_tables

app = create_app(Settings(_env_file=None))
for rule in app.url_map.iter_rules():
    print(rule.endpoint, rule.rule)
assert {each.table for each in swept_tables()} <= Base.metadata.tables.keys()
"""


def cut(text: str, piece: str) -> str:
    assert piece in text, piece
    end, instead = ENDS.get(piece, ("", ""))
    while piece in text:
        start = text.index(piece)
        stop = text.index(end, start) + len(end) if end else start + len(piece)
        text = text[:start] + instead + text[stop:]
        if instead:
            break
    return text


def test_without_the_legacy_api_the_application_starts_and_nothing_names_it(
    tmp_path: Path,
) -> None:
    for folder in ("app", "templates"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for folder in ("migrations", "static"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for name in DELETED:
        path = tmp_path / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, pieces in CUT.items():
        path = tmp_path / name
        text = path.read_text()
        for piece in pieces:
            text = cut(text, piece)
        path.write_text(text)

    naming = {
        str(path.relative_to(tmp_path))
        for folder in ("app", "templates")
        for path in (tmp_path / folder).rglob("*.*")
        if path.suffix in {".py", ".html", ".json"}
        and any(word in path.read_text() for word in GONE)
    }
    assert naming == set()

    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    run = subprocess.run(
        [sys.executable, "-c", START],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    routes = run.stdout.splitlines()
    assert "portal.api_access.list_clients /api-access/clients" in routes
    assert [
        route for route in routes if "legacy" in route or "migration" in route or "/phone/" in route
    ] == []


def test_the_page_about_the_removal_names_every_folder_and_file() -> None:
    section = PAGE.read_text().partition("## Removing the legacy API")[2]
    assert [name for name in (*DELETED, *CUT) if f"`{name}`" not in section] == []
