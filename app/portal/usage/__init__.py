"""Usage: conversations and their cost over a range of days."""
