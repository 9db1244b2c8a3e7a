"""Users: their list, page, invitations, roles and status."""
