"""Backups of the database and the files: create, verify, restore.

A backup is one file: a tar archive, compressed and encrypted for the public keys of `age
<https://age-encryption.org>`_. The private keys are never on this machine.
"""

from app.backups.archive import BackupUnusable, new_key, read_identities
from app.backups.creating import create, listing
from app.backups.databases import DatabaseToolFailed
from app.backups.restoring import VerifiedBackup, restore, verify
from app.backups.targets import create_at, local_file, remove_old_at
