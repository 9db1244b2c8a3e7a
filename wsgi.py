"""What the web server and the command line load."""

from app import create_app

app = create_app()
