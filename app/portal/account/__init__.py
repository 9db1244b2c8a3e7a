"""The signed-in user's own account: details, password, mails, sessions."""

from flask import Blueprint

blueprint = Blueprint("account", __name__)
