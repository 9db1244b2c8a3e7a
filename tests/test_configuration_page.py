"""docs/configuration.md says what the settings classes say."""

import re

from app.config import ROOT, Settings
from scripts import config_docs

PAGE = (ROOT / "docs" / "configuration.md").read_text()


def test_the_page_is_what_the_settings_classes_generate() -> None:
    assert config_docs.render() == PAGE, "run python -m scripts.config_docs"


def test_the_page_lists_each_setting_once_and_no_other() -> None:
    listed = re.findall(r"^\| `([A-Z_]+)` ", PAGE.partition("## Web server")[0], re.MULTILINE)
    expected = [config_docs.variable(*item) for item in Settings.model_fields.items()]
    assert sorted(listed) == sorted(expected), "run python -m scripts.config_docs"


def test_the_page_lists_what_the_web_server_reads() -> None:
    section = PAGE.partition("## Web server")[2]
    listed = set(re.findall(r"^\| `([A-Z_]+)` ", section, re.MULTILINE))
    source = (ROOT / "gunicorn.conf.py").read_text()
    assert listed == set(re.findall(r'environ\.get\("(\w+)"', source)) - {"DATABASE_URL"}
