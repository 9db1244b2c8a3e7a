"""What the web server and the command line load."""

from app import create_app
from app.collecting import settle

app = create_app()
settle()
