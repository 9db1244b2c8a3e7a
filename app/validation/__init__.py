"""Checks of colours, email addresses and URLs, at writing and at reading."""
