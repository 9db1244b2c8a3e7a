"""The one blueprint of the portal; every screen module adds its views to it."""

from flask import Blueprint

portal = Blueprint("portal", __name__)
