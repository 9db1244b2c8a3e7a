"""Search over everything."""
