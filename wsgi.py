"""What the web server and the command line load."""

from app import gc_tuning, log_lines
from app.factory import create_app

log_lines.configure()
app = create_app()
gc_tuning.settle()
