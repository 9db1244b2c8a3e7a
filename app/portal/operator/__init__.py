"""Screens of the installation's operator: partners that are suspended, and mails that were kept."""
