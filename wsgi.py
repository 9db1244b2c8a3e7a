"""The entry point of the web server and the command line."""

import os

from app import gc_tuning, log_lines, private_files
from app.config import read_settings
from app.factory import create_app
from app.telemetry.metrics import CountLines

os.umask(private_files.UMASK)
settings = read_settings()
log_lines.configure(as_json=settings.logs_json).addFilter(CountLines())
app = create_app(settings)
gc_tuning.resume_collection()
gc_tuning.limit_heaps()
