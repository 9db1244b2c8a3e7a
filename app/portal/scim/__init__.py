"""The directory of the partner: its tokens, its groups and their roles."""
