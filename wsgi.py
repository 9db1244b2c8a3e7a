"""What the web server and the command line load."""

from app import gc_tuning
from app.factory import create_app

app = create_app()
gc_tuning.settle()
