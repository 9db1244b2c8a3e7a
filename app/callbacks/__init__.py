"""CARRIERS: what they tell and ask while a call is on the line. Signed, without a session."""

from flask import Flask

from app.callbacks.twilio import blueprint as twilio


def register_callbacks(app: Flask) -> None:
    app.register_blueprint(twilio)
