"""The language of a page: the user's choice, the partner's default, or what the browser asks for."""

from flask import Flask
from flask_babel import Babel

from app import languages

babel = Babel()


def register(app: Flask) -> None:
    babel.init_app(
        app,
        default_translation_directories=str(languages.FOLDER),
        locale_selector=languages.locale,
    )
    # The threads of a server are used again, each for the requests of many users.
    app.before_request(lambda: languages.speak(languages.DEFAULT))
