"""Reports from carriers, payment processors, voice engines and identity providers: signed, without
a session."""

from flask import Flask

from app.callbacks.identity_providers import blueprint as identity_providers
from app.callbacks.stripe import blueprint as stripe
from app.callbacks.twilio import blueprint as twilio
from app.callbacks.voice import blueprint as voice


def register_callbacks(app: Flask) -> None:
    app.register_blueprint(twilio)
    app.register_blueprint(stripe)
    app.register_blueprint(voice)
    app.register_blueprint(identity_providers)
