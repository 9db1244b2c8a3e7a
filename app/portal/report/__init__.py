"""The admin report."""
