"""``flask storage …``, and what a contact file over the limit is answered."""

import json
from pathlib import Path

from app.config import Settings
from tests.commands.conftest import Shell, written


def test_storage_is_shown_limited_and_reset(shell: Shell, tmp_path: Path) -> None:
    partner = shell.tenant.partner
    shell.put_in(written(tmp_path, "Name,Phone\nAnn,+12025550123\n"))
    (shown,) = json.loads(shell.run("storage", "show", "--json").stdout)
    assert shown.pop("usedBytes") > 0
    assert shown == {"id": str(partner.id), "name": partner.name, "limitBytes": 2_000_000_000}
    limited = shell.run("storage", "limit", partner.id, "5GB")
    assert limited.output == "Storage: 0.0 of 5,000.0 MB\n"
    listed = shell.run("storage", "show", "--partner", partner.id).output
    assert listed == (
        f"{shell.tenant.organization.id}  0.0 of 500.0 MB  {shell.tenant.organization.name}\n"
    )
    reset = shell.run("storage", "limit", partner.id, "--reset")
    assert reset.output == "Storage: 0.0 of 2,000.0 MB\n"
    for words in (["lots"], [], ["1GB", "--reset"]):
        assert shell.run("storage", "limit", partner.id, *words).exit_code == 2


def test_a_contact_file_over_the_limit_is_refused(shell: Shell, tmp_path: Path) -> None:
    shell.run("storage", "limit", shell.tenant.partner.id, "0MB")
    result = shell.put_in(written(tmp_path, "Name,Phone\nAnn,+12025550123\n"))
    assert result.exit_code == 2
    assert "The partner uses 0.0" in result.output
    settings: Settings = shell.app.extensions["settings"]
    assert [*(settings.instance_dir / "uploads").iterdir()] == []
