"""Checks of colours, email addresses and URLs, for writing and for reading."""
