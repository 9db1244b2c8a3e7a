"""Shared by all lists of records: files to download, and saved views."""

from flask import Blueprint

blueprint = Blueprint("record_lists", __name__)
