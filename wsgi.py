"""What the web server and the command line load."""

from app.collecting import settle
from app.factory import create_app

app = create_app()
settle()
