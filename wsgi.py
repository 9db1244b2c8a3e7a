"""What the web server and the command line load."""

import os

from app import gc_tuning, log_lines, private_files
from app.factory import create_app

os.umask(private_files.UMASK)
log_lines.configure()
app = create_app()
gc_tuning.settle()
gc_tuning.share_heaps()
