"""The one blueprint of the portal, to which every module of views adds its own."""

from flask import Blueprint
from werkzeug.wrappers import Response

Page = str | tuple[str, int] | Response
"""What a view returns."""

portal = Blueprint("portal", __name__)
