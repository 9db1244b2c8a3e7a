"""The partner portal, in a checkout or as a wheel in a virtual environment."""

import sys
from pathlib import Path

VERSION = "0.2.0"
"""The version of wheels and backups."""
ROOT = Path(__file__).resolve().parents[1]
"""The folder of the code, templates, assets and migrations."""
INSTANCE = (ROOT if (ROOT / "pyproject.toml").exists() else Path(sys.prefix)) / "instance"
"""The default instance folder: in the checkout, or in the virtual environment of the wheel,
whatever the working directory of a command is."""
