"""Recordings, transcripts and summaries of calls.

A voice engine reports them, signed (`reports`); a carrier announces recordings (`reports`); the
worker fetches the files (`fetching`) and, if the settings say so, transcribes and summarizes them
(`writing`); pages show them (`reading`); they are deleted when they expire (`retention`). Calls on
the simulated carrier have a sample (`samples`).
"""

from app.services.recordings.reading import extension_of, file_of
from app.services.recordings.reports import announce
from app.services.recordings.signing import is_genuine, secret_of
