"""An application that takes a moment to load, and then leaves a file at ``LOADED``."""

import os
import time
from pathlib import Path

from flask import Flask

app = Flask("slow_start")


@app.get("/")
def home() -> dict[str, str]:
    return {}


time.sleep(1.0)
Path(os.environ["LOADED"]).touch()
