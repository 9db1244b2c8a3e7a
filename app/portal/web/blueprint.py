"""The one blueprint of the portal; every module of views adds its own to it."""

from flask import Blueprint
from werkzeug.wrappers import Response

Page = str | tuple[str, int] | Response
"""The return value of a view."""

portal = Blueprint("portal", __name__)
