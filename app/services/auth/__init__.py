"""Signing in and out, sessions, passwords, and the links that mails bring."""
