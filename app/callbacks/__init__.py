"""What carriers, payment processors and voice engines report: signed, without a session."""

from flask import Flask

from app.callbacks.stripe import blueprint as stripe
from app.callbacks.twilio import blueprint as twilio
from app.callbacks.voice import blueprint as voice


def register_callbacks(app: Flask) -> None:
    app.register_blueprint(twilio)
    app.register_blueprint(stripe)
    app.register_blueprint(voice)
