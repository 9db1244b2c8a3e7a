"""What operators install: the files of ``deploy/``."""

from pathlib import Path

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
