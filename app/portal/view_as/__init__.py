"""View-as: operators see a portal as one of its users."""

from flask import Blueprint

blueprint = Blueprint("view_as", __name__)
