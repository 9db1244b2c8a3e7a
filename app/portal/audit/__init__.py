"""The history: who changed what, in words."""
