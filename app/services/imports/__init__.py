"""Contact files: reading, mapping to contacts, checking, applying."""
