"""Screens of the installation's operator: the mails that were kept instead of sent."""
