"""The signed-in user's own account: details, password, mails, sessions."""
