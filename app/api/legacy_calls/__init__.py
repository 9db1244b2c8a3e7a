"""AREA B, retired: one folder, to be removed when the last extension ends."""

from app.api.legacy_calls.blueprint import blueprint
from app.api.legacy_calls.outbound import place_call
