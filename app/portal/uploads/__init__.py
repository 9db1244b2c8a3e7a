"""Contact files: upload, check, apply, undo."""
