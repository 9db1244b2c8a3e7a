"""Shared by all lists of records: files to download, and saved views."""
