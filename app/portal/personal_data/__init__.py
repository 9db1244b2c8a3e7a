"""Exporting and erasing the data about a user or a contact."""
