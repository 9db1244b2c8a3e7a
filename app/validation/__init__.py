"""Checks of colours, e-mail addresses and URLs, at writing and at reading."""
