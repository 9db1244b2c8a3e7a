"""Contact files: upload, check, apply, undo."""

from flask import Blueprint

blueprint = Blueprint("uploads", __name__)
