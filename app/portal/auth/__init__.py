"""Signing in and out, invitations, forgotten passwords, and the guard of every screen."""
