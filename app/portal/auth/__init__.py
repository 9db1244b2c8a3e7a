"""Signing in and out, invitations, forgotten passwords, and the guard of every screen."""

from flask import Blueprint

blueprint = Blueprint("auth", __name__)
