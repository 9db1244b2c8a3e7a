"""Signing in and out, sessions, passwords, and the links in mails."""
